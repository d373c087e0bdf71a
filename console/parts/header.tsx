import type { OverviewView } from '../../shared/view/shapes.ts';
import { count, energy, watts } from '../format.ts';
import { connection } from '../state/connection.ts';
import { hashOf } from '../state/place.ts';
import { useApi } from '../state/resource.ts';
import { place } from '../state/route.ts';

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

/** The few numbers worth seeing from everywhere: of one answer, so that they agree with each other. */
function Figures() {
  const overview = useApi<OverviewView>('/api/overview').data.value;
  if (!overview) return <p class="figures" />;
  const { ready, machines, coming, leaving, waiting, watts: drawn, kWhSaved } = overview;
  return (
    <p class="figures">
      <span>
        <b>{ready}</b> of {machines} ready
      </span>
      {coming > 0 && <span class="coming">{coming} coming</span>}
      {leaving > 0 && <span class="leaving">{leaving} leaving</span>}
      {waiting !== undefined && (
        <span class={waiting > 0 ? 'alarm' : ''}>{count(waiting, 'pod')} waiting</span>
      )}
      <span>{watts(drawn)}</span>
      <span>{energy(kWhSaved)} saved</span>
    </p>
  );
}
