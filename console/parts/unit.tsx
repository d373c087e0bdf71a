import { Component } from 'preact';
import type { MachineView } from '../../shared/view/shapes.ts';
import { type Boot, bootOf } from '../boot.ts';
import { count, duration, money, percent, watts } from '../format.ts';
import type { Detail } from '../racks.ts';
import { now } from '../state/clock.ts';
import { hashOf } from '../state/place.ts';

interface Props {
  readonly machine: MachineView;
  /** Its name, as far as the row has room. */
  readonly shown: string;
  readonly detail: Detail;
}

/** A machine in its rack. Drawn again only when something about it is new. */
export class Unit extends Component<Props> {
  override shouldComponentUpdate({ machine, shown, detail }: Props): boolean {
    return machine !== this.props.machine || shown !== this.props.shown || detail !== this.props.detail;
  }

  override render({ machine, shown, detail }: Props) {
    const problems = problemsOf(machine);
    const says = [machine.name, machine.state, ...problems, machine.why].filter(Boolean).join(' · ');
    const isMoving = machine.capacity === 'coming' || machine.capacity === 'leaving';
    return (
      <a
        class="unit"
        href={hashOf('machines', machine.name)}
        data-state={machine.state}
        data-problem={problems.length > 0 || undefined}
        title={says}
        aria-label={detail === 'colour' ? says : undefined}
      >
        {isMoving ? <Moving machine={machine} detail={detail} /> : <Fill share={loadOf(machine)} />}
        {detail !== 'colour' && <span class="name">{shown}</span>}
        {detail === 'line' && !isMoving && <span class="doing">{useText(machine) || machine.state}</span>}
        {detail === 'full' && (
          <>
            <span class="figure">{costOf(machine)}</span>
            <span class="doing">
              {machine.state}
              {problems.map((problem) => (
                <span key={problem} class="ill">
                  {' '}
                  · {problem}
                </span>
              ))}
            </span>
            {!isMoving && <span class="says">{useText(machine)}</span>}
          </>
        )}
      </a>
    );
  }
}

/** What is wrong with it, in a word or two. */
function problemsOf({ health, bmc, made }: MachineView): string[] {
  const who = made ? 'provider' : 'BMC';
  return [
    ...(health.status === 'critical' || health.status === 'warning' ? [health.status] : []),
    ...(bmc.reachable === false ? [`${who} silent`] : []),
    ...(bmc.refused ? [`${who} refuses`] : []),
  ];
}

/** Watts drawn; of a slice of a remote cluster, its price. */
const costOf = ({ offer, hourlyRate, watts: { now: drawn } }: MachineView): string =>
  offer !== undefined && drawn === undefined && hourlyRate !== undefined
    ? `${money(hourlyRate)}/h`
    : watts(drawn);

/** The share of it that pods request: the scarcer of cpu and memory. */
function loadOf({ resources, requested, capacity }: MachineView): number | undefined {
  if (!requested || capacity !== 'serving') return undefined;
  return Math.max(
    ...['cpu', 'memory'].map((name) => (requested[name] ?? 0) / Math.max(1, resources[name] ?? 1)),
  );
}

function useText(machine: MachineView): string {
  const load = loadOf(machine);
  return load === undefined ? '' : `${percent(load)} · ${count(machine.node.pods ?? 0, 'pod')}`;
}

/** Only a machine that boots or leaves reads the clock. */
function Moving({ machine, detail }: { readonly machine: MachineView; readonly detail: Detail }) {
  const { share, says } = progressOf(machine, now.value);
  return (
    <>
      <Fill share={share} />
      {detail === 'full' && <span class="says">{says}</span>}
      {detail === 'line' && (
        <span class="doing">
          {machine.state} {share !== undefined && percent(share)}
        </span>
      )}
    </>
  );
}

function progressOf(machine: MachineView, time: number): { share: number | undefined; says: string } {
  const { drain } = machine;
  if (machine.capacity === 'leaving' && drain) {
    const { podsLeft, podsTotal } = drain;
    return {
      share: podsTotal > 0 ? 1 - podsLeft / podsTotal : 1,
      says: `${podsLeft} of ${count(podsTotal, 'pod')} left`,
    };
  }
  const boot = bootOf(machine, time);
  return boot ? { share: boot.share, says: bootText(boot) } : { share: undefined, says: '' };
}

export const bootText = ({ elapsedMs, learnedMs }: Boot): string =>
  learnedMs === undefined
    ? `${duration(elapsedMs)}, first boot`
    : `${duration(elapsedMs)} of about ${duration(learnedMs)}`;

const Fill = ({ share }: { readonly share: number | undefined }) =>
  share === undefined ? null : (
    <span class="fill" aria-hidden="true" style={{ width: `${Math.min(1, share) * 100}%` }} />
  );
