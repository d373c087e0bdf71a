import type { DecisionView, PoolView } from '../../shared/view/shapes.ts';
import { count, part, watts } from '../format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Meter } from '../parts/meter.tsx';
import { useApi } from '../state/resource.ts';
import type { Pools } from '../types.ts';

export function PoolsPage() {
  const pools = useApi<Pools>('/api/pools');
  return (
    <>
      <h1>Pools</h1>
      <Unmet />
      <Loaded of={pools}>
        {({ items }) => (
          <div class="cards">
            {items.map((pool) => (
              <Pool key={pool.name} pool={pool} />
            ))}
            {items.length === 0 && <p class="quiet">There are no pools.</p>}
          </div>
        )}
      </Loaded>
    </>
  );
}

/** Demand that no pool can serve. */
function Unmet() {
  const latest = useApi<DecisionView>('/api/decisions/latest').data.value;
  if (!latest || latest.unmet === 0) return <p class="quiet">No demand is left unmet.</p>;
  return (
    <div class="problem">
      {count(latest.unmet, 'pod')} cannot be served by any pool:
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

const bound = (limit: number): string => (limit > 0 ? String(limit) : 'no limit');

function Pool({ pool }: { readonly pool: PoolView }) {
  const { limits, resources, requested } = pool;
  const most = Math.max(limits.maxNodes || pool.machines, pool.desired, 1);
  const used = Object.entries(resources).filter(([, has]) => has > 0);
  return (
    <article class="card pool">
      <h2>
        {pool.name}
        <span class="health" data-health={pool.health.status} title={pool.health.why}>
          {pool.health.status}
        </span>
      </h2>
      <dl class="numbers">
        <Figure name="ready" value={pool.ready} />
        <Figure name="pending" value={pool.pending} />
        <Figure name="leaving" value={pool.leaving} />
        <Figure name="desired" value={pool.desired} />
        <Figure name="min" value={limits.minNodes} />
        <Figure name="max" value={bound(limits.maxNodes)} />
      </dl>
      <Meter label="nodes" value={pool.desired} max={most} text={`${pool.desired} of ${most}`} />
      {used.map(([name, has]) => (
        <Meter
          key={name}
          label={name}
          value={requested[name] ?? 0}
          max={has}
          text={part(name, requested[name] ?? 0, has)}
        />
      ))}
      {used.length === 0 && <p class="quiet">nothing of it serves now</p>}
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

const Figure = ({ name, value }: { readonly name: string; readonly value: number | string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);
