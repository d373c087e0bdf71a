import { useMemo, useState } from 'preact/hooks';
import type { PodView } from '../../shared/view/shapes.ts';
import { count, resources } from '../format.ts';
import { Ago } from '../parts/ago.tsx';
import { Filters, hasWords } from '../parts/filters.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Next } from '../parts/next.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Rows } from '../parts/rows.tsx';
import { Trend } from '../parts/trends.tsx';
import { useApi } from '../state/resource.ts';
import type { Pods } from '../types.ts';

/** Pods that wait for a machine, and why. */
export function PodsPage() {
  const pods = useApi<Pods>('/api/pods?limit=10000');
  return (
    <>
      <div class="head">
        <h1>Waiting pods</h1>
        <RangePicker />
      </div>
      <div class="charts">
        <Trend of="waiting" />
        <Trend of="states" />
      </div>
      <Loaded of={pods}>{({ items, total }) => (total === 0 ? <None /> : <List pods={items} />)}</Loaded>
    </>
  );
}

const None = () => (
  <>
    <p class="empty">
      No pod waits for a machine. A pod is listed here when the scheduler finds no node for it, with what is
      done about it.
    </p>
    <Next most={8} />
  </>
);

function List({ pods }: { readonly pods: readonly PodView[] }) {
  const [text, setText] = useState('');
  const found = useMemo(
    () => pods.filter(({ namespace, name, why }) => hasWords(text, `${namespace}/${name}`, why)),
    [pods, text],
  );
  return (
    <>
      <Filters
        label="Find by name or reason"
        text={text}
        onText={setText}
        choices={[]}
        chosen=""
        onChoose={() => undefined}
      >
        <span class="quiet">{count(found.length, 'pod')} without a node</span>
      </Filters>
      <Rows
        label="Pods that wait for a machine"
        items={found}
        keyOf={(pod) => `${pod.namespace}/${pod.name}`}
        row={(pod) => <Row pod={pod} />}
      />
    </>
  );
}

function Row({ pod: { namespace, name, requests, since, why, scheduler } }: { readonly pod: PodView }) {
  return (
    <div class="pod">
      <span class="name">
        {namespace}/{name}
      </span>
      <span class="asks">{resources(requests)}</span>
      <span class="why">
        {why}
        {scheduler && <span class="quiet scheduler">Scheduler: {scheduler}</span>}
      </span>
      <Ago time={since} />
    </div>
  );
}
