import type { PodView } from '../../shared/view/shapes.ts';
import { count, resources } from '../format.ts';
import { Ago } from '../parts/ago.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { useApi } from '../state/resource.ts';
import type { Pods } from '../types.ts';

/** Pods that wait for a machine, and what becomes of them. */
export function PodsPage() {
  const pods = useApi<Pods>('/api/pods?limit=10000');
  return (
    <div class="filling">
      <h1>Pods that wait</h1>
      <Loaded of={pods}>
        {({ items, total }) =>
          total === 0 ? (
            <p class="quiet">No pod waits for a machine.</p>
          ) : (
            <>
              <p class="quiet">{count(total, 'pod')} without a node.</p>
              <VirtualList
                label="Pods that wait for a machine"
                items={items}
                keyOf={(pod) => `${pod.namespace}/${pod.name}`}
                row={(pod) => <Row pod={pod} />}
              />
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Row({ pod: { namespace, name, requests, since, why, scheduler } }: { readonly pod: PodView }) {
  return (
    <div class="pod">
      <span class="name">
        {namespace}/{name}
      </span>
      <span class="asks quiet">{resources(requests)}</span>
      <span class="why" title={scheduler ? `The scheduler says: ${scheduler}` : ''}>
        {why}
      </span>
      <Ago time={since} />
    </div>
  );
}
