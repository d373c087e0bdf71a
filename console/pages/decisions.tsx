import { useMemo, useState } from 'preact/hooks';
import type { DecisionSummary } from '../../shared/view/shapes.ts';
import { folded, isQuiet } from '../folded.ts';
import { count } from '../format.ts';
import { At } from '../parts/ago.tsx';
import { Filters, hasWords } from '../parts/filters.tsx';
import { DecisionLink } from '../parts/links.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Rows } from '../parts/rows.tsx';
import { Trend } from '../parts/trends.tsx';
import { useApi } from '../state/resource.ts';
import type { Decisions } from '../types.ts';

export function DecisionsPage() {
  const decisions = useApi<Decisions>('/api/decisions');
  return (
    <>
      <div class="head">
        <h1>Decisions</h1>
        <RangePicker />
      </div>
      <div class="charts">
        <Trend of="begun" />
        <Trend of="waiting" />
      </div>
      <Loaded of={decisions}>{({ items }) => <List items={items} />}</Loaded>
    </>
  );
}

const kinds: Readonly<Record<string, (decision: DecisionSummary) => boolean>> = {
  'power-ons': ({ powerOn }) => powerOn.length > 0,
  drains: ({ drain }) => drain.length > 0,
  unmet: ({ unmet }) => unmet > 0,
  'nothing to do': isQuiet,
};

function List({ items }: { readonly items: readonly DecisionSummary[] }) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState('');
  const found = useMemo(
    () =>
      items.filter(
        (one) =>
          (kinds[kind]?.(one) ?? true) && hasWords(text, one.summary, one.id, ...one.powerOn, ...one.drain),
      ),
    [items, text, kind],
  );
  // Who asks for them sees them one by one.
  const entries = useMemo(
    () =>
      kind === 'nothing to do'
        ? found.map((decision) => ({ kind: 'one' as const, decision }))
        : folded(found),
    [found, kind],
  );
  if (items.length === 0)
    return (
      <p class="empty">
        No decision has been recorded yet. The first follows the first evaluation, within a minute of the
        start.
      </p>
    );
  return (
    <>
      <Filters
        label="Find by machine or reason"
        text={text}
        onText={setText}
        choices={Object.entries(kinds).map(([name, matches]) => ({
          name,
          count: items.filter(matches).length,
        }))}
        chosen={kind}
        onChoose={setKind}
      />
      {found.length === 0 && <p class="quiet">No decision matches.</p>}
      <Rows
        label="Decisions, the latest first"
        items={entries}
        keyOf={(entry) =>
          entry.kind === 'one' ? entry.decision.id : `quiet ${entry.decisions.at(-1)?.id ?? ''}`
        }
        row={(entry) =>
          entry.kind === 'one' ? <Row decision={entry.decision} /> : <Quiet decisions={entry.decisions} />
        }
      />
    </>
  );
}

function Row({
  decision: { id, at, summary, powerOn, drain, unmet },
}: {
  readonly decision: DecisionSummary;
}) {
  return (
    <div class="decision">
      <At time={at} />
      <DecisionLink id={id}>{summary}</DecisionLink>
      <span class="tags">
        {powerOn.length > 0 && <span class="tag on">{powerOn.length} on</span>}
        {drain.length > 0 && <span class="tag off">{drain.length} off</span>}
        {unmet > 0 && <span class="tag bad">{unmet} unmet</span>}
      </span>
    </div>
  );
}

/** Decisions with nothing to do, told in a line. */
function Quiet({ decisions }: { readonly decisions: readonly DecisionSummary[] }) {
  const newest = decisions[0];
  const oldest = decisions.at(-1);
  if (!newest || !oldest) return null;
  if (decisions.length === 1) return <Row decision={newest} />;
  return (
    <details class="folded">
      <summary class="quiet">
        <At time={oldest.at} /> to <At time={newest.at} />: {count(decisions.length, 'decision')} with nothing
        to do
      </summary>
      {decisions.map((decision) => (
        <Row key={decision.id} decision={decision} />
      ))}
    </details>
  );
}
