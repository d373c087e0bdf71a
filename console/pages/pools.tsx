import type { DecisionView, PoolView } from '../../shared/view/shapes.ts';
import { count, part, watts } from '../format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Meter } from '../parts/meter.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Boots, Trend } from '../parts/trends.tsx';
import { stateOrder } from '../racks.ts';
import { useApi } from '../state/resource.ts';
import type { Pools } from '../types.ts';

export function PoolsPage() {
  const pools = useApi<Pools>('/api/pools');
  return (
    <>
      <div class="head">
        <h1>Pools</h1>
        <RangePicker />
      </div>
      <Unmet />
      <div class="charts">
        <Trend of="used" />
        <Boots />
      </div>
      <Loaded of={pools}>
        {({ items }) => (
          <div class="cards">
            {items.map((pool) => (
              <Pool key={pool.name} pool={pool} />
            ))}
            {items.length === 0 && (
              <p class="empty">
                There are no pools. Name one in <code>pools:</code> of the configuration file, or apply a
                BareMetalPool.
              </p>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

/** Demand that no pool can serve. */
function Unmet() {
  const latest = useApi<DecisionView>('/api/decisions/latest').data.value;
  if (!latest || latest.unmet === 0) return null;
  return (
    <div class="problem">
      No pool can serve {count(latest.unmet, 'pod')}:
      <ul>
        {latest.unmetPods.map(({ pod, pods, why }) => (
          <li key={pod}>
            {pods > 1 ? `${pods} like ${pod}` : pod}: {why}
          </li>
        ))}
      </ul>
    </div>
  );
}

const bound = (limit: number): string => (limit > 0 ? String(limit) : '∞');

function Pool({ pool }: { readonly pool: PoolView }) {
  const { limits, resources, requested } = pool;
  const used = Object.entries(resources).filter(([, has]) => has > 0);
  return (
    <article class="card pool">
      <h2>
        <span>{pool.name}</span>
        <span class="health" data-health={pool.health.status} title={pool.health.why}>
          {pool.health.status}
        </span>
      </h2>
      <Strip states={pool.states} all={pool.machines} />
      <dl class="numbers">
        <Figure name="ready" value={pool.ready} />
        <Figure name="coming" value={pool.pending} />
        <Figure name="leaving" value={pool.leaving} />
        <Figure name="desired" value={pool.desired} />
        <Figure name="min" value={limits.minNodes} />
        <Figure name="max" value={bound(limits.maxNodes)} />
      </dl>
      {used.map(([name, has]) => (
        <Meter
          key={name}
          label={name}
          value={requested[name] ?? 0}
          max={has}
          text={part(name, requested[name] ?? 0, has)}
        />
      ))}
      {used.length === 0 && <p class="quiet">No machine of it serves now.</p>}
      <Meter
        label="power"
        value={pool.watts.now}
        max={pool.watts.max}
        text={`${watts(pool.watts.now)} of ${watts(pool.watts.max)}`}
      />
      {pool.health.status !== 'healthy' && <p class="quiet">{pool.health.why}</p>}
    </article>
  );
}

/** Machines by state as a bar. */
function Strip({ states, all }: { readonly states: PoolView['states']; readonly all: number }) {
  const shown = stateOrder.filter((state) => (states[state] ?? 0) > 0);
  const says = shown.map((state) => `${states[state]} ${state}`).join(', ');
  return (
    <div class="strip" role="img" aria-label={says || 'no machines'} title={says}>
      {shown.map((state) => (
        <span
          key={state}
          data-state={state}
          style={{ width: `${((states[state] ?? 0) / Math.max(1, all)) * 100}%` }}
        />
      ))}
    </div>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: number | string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);
