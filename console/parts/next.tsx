import type { OverviewView, UpcomingView } from '../../shared/view/shapes.ts';
import { count, duration } from '../format.ts';
import { now } from '../state/clock.ts';
import { useApi } from '../state/resource.ts';
import { Ago, At } from './ago.tsx';
import { DecisionLink, MachineLink } from './links.tsx';
import { Loaded } from './loaded.tsx';

const titles: Readonly<Record<UpcomingView['kind'], string>> = {
  boot: 'Ready',
  drain: 'Draining',
  'power-off': 'Powering off',
  idle: 'Power-off considered',
  retry: 'Retry',
  pause: 'Power-offs resume',
  schedule: 'Schedule',
};

/** What is under way or due, and why; then what was decided last. What goes beyond `most` is counted. */
export function Next({ most }: { readonly most: number }) {
  const overview = useApi<OverviewView>('/api/overview');
  return (
    <section class="next" aria-labelledby="next-title">
      <h2 id="next-title">Next</h2>
      <Loaded of={overview}>
        {({ next, decision }) => (
          <>
            {next.length === 0 && <p class="quiet">Nothing is under way, and no time is set for anything.</p>}
            <ol>
              {next.slice(0, most).map((one) => (
                <li key={`${one.kind} ${one.machine ?? one.pool} ${one.why}`} data-kind={one.kind}>
                  <Upcoming one={one} />
                </li>
              ))}
            </ol>
            {next.length > most && <p class="quiet">and {count(next.length - most, 'other')}</p>}
            <Last decision={decision} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Upcoming({ one: { kind, at, machine, pool, why } }: { readonly one: UpcomingView }) {
  return (
    <>
      <b>{titles[kind]}</b>
      <span class="when">{at !== undefined && when(at - now.value)}</span>
      {machine === undefined ? <span class="name">{pool}</span> : <MachineLink name={machine} />}
      <span class="why quiet">{why}</span>
    </>
  );
}

const when = (ms: number): string => (ms <= 0 ? 'any moment' : `in ${duration(ms)}`);

function Last({ decision }: { readonly decision: OverviewView['decision'] }) {
  return (
    <div class="last">
      <h2>Last decision</h2>
      {decision ? (
        <>
          <p>
            <DecisionLink id={decision.id}>{decision.summary}</DecisionLink>
          </p>
          <p class="quiet">
            <At time={decision.at} />, <Ago time={decision.at} />
          </p>
          {decision.limits.slice(0, 4).map((limit) => (
            <p key={limit} class="note">
              {limit}
            </p>
          ))}
        </>
      ) : (
        <p class="quiet">None yet: the first evaluation follows within a minute of the start.</p>
      )}
    </div>
  );
}
