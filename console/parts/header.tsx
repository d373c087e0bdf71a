import type { EnergyView } from '../../shared/view/shapes.ts';
import { count, energy, watts } from '../format.ts';
import { connection } from '../state/connection.ts';
import { hashOf } from '../state/place.ts';
import { useApi } from '../state/resource.ts';
import { place } from '../state/route.ts';
import type { Pods, Pools } from '../types.ts';

const tabs = [
  { page: 'racks', title: 'Racks', also: ['machines'] },
  { page: 'pools', title: 'Pools', also: [] },
  { page: 'timeline', title: 'Timeline', also: [] },
  { page: 'decisions', title: 'Decisions', also: [] },
  { page: 'pods', title: 'Pods', also: [] },
  { page: 'energy', title: 'Energy', also: [] },
] as const satisfies readonly { page: string; title: string; also: readonly string[] }[];

export function Header() {
  const { page } = place.value;
  return (
    <header>
      <a class="mark" href={hashOf('racks')}>
        bamel
      </a>
      <nav aria-label="Pages">
        {tabs.map(({ page: target, title, also }) => (
          <a
            key={target}
            href={hashOf(target)}
            aria-current={page === target || also.some((other) => other === page) ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Figures />
      <span class="link" data-link={connection.value.state}>
        {connection.value.state}
      </span>
    </header>
  );
}

/** The few numbers worth seeing from everywhere. */
function Figures() {
  const pools = useApi<Pools>('/api/pools').data.value?.items;
  const pods = useApi<Pods>('/api/pods?limit=200').data.value;
  const saved = useApi<EnergyView>('/api/energy').data.value;
  if (!pools || !pods || !saved) return <p class="figures" />;
  const sum = (of: 'ready' | 'pending' | 'machines') => pools.reduce((total, pool) => total + pool[of], 0);
  return (
    <p class="figures">
      <span>
        <b>{sum('ready')}</b> of {sum('machines')} serve{sum('pending') > 0 && `, ${sum('pending')} coming`}
      </span>
      <span class={pods.total > 0 ? 'alarm' : ''}>{count(pods.total, 'pod')} waiting</span>
      <span>{watts(saved.wattsNow)}</span>
      <span>{energy(saved.kWhSaved)} saved</span>
    </p>
  );
}
