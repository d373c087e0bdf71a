import { Component } from 'preact';
import type { MachineView } from '../../shared/view/shapes.ts';
import { type Boot, bootOf } from '../boot.ts';
import { count, duration, money, percent, watts } from '../format.ts';
import { now } from '../state/clock.ts';
import { hashOf } from '../state/place.ts';

/** A machine in its rack. Drawn again only when something about it is new. */
export class Unit extends Component<{ readonly machine: MachineView }> {
  override shouldComponentUpdate({ machine }: { readonly machine: MachineView }): boolean {
    return machine !== this.props.machine;
  }

  override render({ machine }: { readonly machine: MachineView }) {
    const who = machine.made ? 'provider' : 'BMC';
    const ill = machine.health.status === 'critical' || machine.health.status === 'warning';
    return (
      <a
        class="unit"
        href={hashOf('machines', machine.name)}
        data-state={machine.state}
        title={machine.why ?? ''}
      >
        <span class="lamp" aria-hidden="true" />
        <span class="name">{machine.name}</span>
        <span class="doing">
          {machine.state}
          {ill && <span class="ill"> · {machine.health.status}</span>}
          {machine.bmc.reachable === false && <span class="ill"> · {who} silent</span>}
          {machine.bmc.refused && <span class="ill"> · {who} refuses</span>}
        </span>
        <span class="figure">{costOf(machine)}</span>
        <Progress machine={machine} />
      </a>
    );
  }
}

/** What it draws; of what nobody has to pay the power for, its price. */
const costOf = ({ offer, hourlyRate, watts: { now: drawn } }: MachineView): string =>
  offer !== undefined && drawn === undefined && hourlyRate !== undefined
    ? `${money(hourlyRate)}/h`
    : watts(drawn);

/** Only a machine that is on its way, or leaving, reads the clock. */
function Progress({ machine }: { readonly machine: MachineView }) {
  if (machine.drain && machine.capacity === 'leaving') {
    const { podsLeft, podsTotal } = machine.drain;
    return (
      <Line
        share={podsTotal > 0 ? 1 - podsLeft / podsTotal : 1}
        says={`${podsLeft} of ${count(podsTotal, 'pod')} left`}
      />
    );
  }
  if (machine.capacity !== 'coming') return <Use machine={machine} />;
  const boot = bootOf(machine, now.value);
  return boot ? (
    <Line share={boot.share ?? 0.15} says={bootText(boot)} unknown={boot.share === undefined} />
  ) : null;
}

export const bootText = ({ elapsedMs, learnedMs }: Boot): string =>
  learnedMs === undefined
    ? `${duration(elapsedMs)}, its first boot`
    : `${duration(elapsedMs)} of about ${duration(learnedMs)}`;

function Line(props: { readonly share: number; readonly says: string; readonly unknown?: boolean }) {
  return (
    <>
      <span class="line" data-unknown={props.unknown || undefined} aria-hidden="true">
        <span style={{ width: `${props.share * 100}%` }} />
      </span>
      <span class="says">{props.says}</span>
    </>
  );
}

/** How much of it pods ask for: the scarcer of cpu and memory. */
function Use({ machine }: { readonly machine: MachineView }) {
  const { resources, requested } = machine;
  if (!requested) return null;
  const share = Math.max(
    ...['cpu', 'memory'].map((name) => (requested[name] ?? 0) / Math.max(1, resources[name] ?? 1)),
  );
  return (
    <Line
      share={Math.min(1, share)}
      says={`${percent(share)} in use, ${count(machine.node.pods ?? 0, 'pod')}`}
    />
  );
}
