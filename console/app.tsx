import { useEffect } from 'preact/hooks';
import { DecisionPage } from './pages/decision.tsx';
import { DecisionsPage } from './pages/decisions.tsx';
import { EnergyPage } from './pages/energy.tsx';
import { MachinePage } from './pages/machine.tsx';
import { PodsPage } from './pages/pods.tsx';
import { PoolsPage } from './pages/pools.tsx';
import { RacksPage } from './pages/racks.tsx';
import { TimelinePage } from './pages/timeline.tsx';
import { Banners } from './parts/banners.tsx';
import { Header } from './parts/header.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { hostSays } from './state/clock.ts';
import { hashOf } from './state/place.ts';
import { useApi } from './state/resource.ts';
import { place } from './state/route.ts';
import type { AboutView } from './types.ts';

export function App() {
  const { page, name } = place.value;
  const about = useApi<AboutView>('/api/about').data.value;
  useEffect(() => {
    if (about) hostSays(about.now);
  }, [about]);
  useEffect(() => {
    document.title = `${name || page} – bamel`;
  }, [page, name]);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        To the content
      </button>
      <Header />
      <Banners />
      <TokenForm />
      <main id="content" tabIndex={-1}>
        {pageFor(page, name)}
      </main>
    </>
  );
}

/** A link to #content would be taken for a page. */
function skip(): void {
  document.getElementById('content')?.focus();
}

function pageFor(page: string, name: string) {
  switch (page) {
    case 'racks':
      return <RacksPage />;
    case 'machines':
      return <MachinePage key={name} name={name} />;
    case 'pools':
      return <PoolsPage />;
    case 'timeline':
      return <TimelinePage />;
    case 'decisions':
      return name ? <DecisionPage key={name} id={name} /> : <DecisionsPage />;
    case 'pods':
      return <PodsPage />;
    case 'energy':
      return <EnergyPage />;
    default:
      return (
        <div class="problem">
          <p>There is no page {page}.</p>
          <p>
            <a href={hashOf('racks')}>Back to the racks</a>
          </p>
        </div>
      );
  }
}
