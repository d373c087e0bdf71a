import { functionTable } from '../../functions/index.ts';
import { layers } from '../../scripts/lint/layers.ts';
import { events, foreignEvents } from '../../shared/ports/event-types.ts';
import {
  failpoints,
  onDemandFailpoints,
  providerFailpoints,
  remoteFailpoints,
  syncFailpoints,
} from '../../shared/process/failpoints.ts';
import { keys } from '../../shared/state/keys.ts';
import { readText, tableRows } from './markdown.ts';

const page = readText('docs/architecture.md');
const names = (of: (definition: (typeof functionTable)[number]['definition']) => readonly string[]) => {
  const wanted = (type: string): string[] =>
    functionTable
      .filter(({ definition }) => of(definition).includes(type))
      .map(({ definition }) => definition.name);
  return wanted;
};

describe('the events table', () => {
  const rows = tableRows(page, 'Events');
  const emittedBy = names(({ emits }) => emits);
  const wokenBy = names(({ wakesOn }) => wakesOn);

  test('names every event and no other', () => {
    const written = [...rows.keys()].filter((name) => name.startsWith('dev.'));
    expect(written.sort()).toEqual([...Object.values(events), ...Object.values(foreignEvents)].sort());
  });

  test.each([...Object.values(events), ...Object.values(foreignEvents)])('%s', (type) => {
    const [, emitted = '', woken = ''] = rows.get(type) ?? [];
    const emitters = emittedBy(type);
    // What no function emits comes from the host or from others, which the row says in words.
    if (emitters.length > 0) expect(emitted).toBe(emitters.join(', '));
    else expect(emitted).toMatch(/^(the host|Knative|others)/);
    expect(woken).toBe(wokenBy(type).join(', ') || '–');
  });
});

test('the failpoints table has every failpoint and no other', () => {
  const named = [...tableRows(page, 'Failpoints').keys()].filter((row) => !/^-+$|^killed/.test(row));
  const all: readonly string[] = [
    ...failpoints,
    ...onDemandFailpoints,
    ...remoteFailpoints,
    ...providerFailpoints,
    ...syncFailpoints,
  ];
  expect(named.flatMap((row) => row.split(', ')).sort()).toEqual([...all].sort());
});

test('the store table has every key and no other', () => {
  const written = [...tableRows(page, 'Store').keys()].filter((row) => row.startsWith('/'));
  expect(written.sort()).toEqual(
    [
      ...(['spec', 'status', 'metrics', 'events', 'source'] as const).map((part) => keys.node('{id}', part)),
      ...(['config', 'members', 'provider', 'source', 'target'] as const).map((part) =>
        keys.pool('{name}', part),
      ),
      ...(['config', 'stats', 'source', 'power-ons', 'alerts', 'triggers', 'energy', 'caption'] as const).map(
        (part) => keys.global(part),
      ),
      ...(['minute', 'ten-minutes', 'hour'] as const).map((tier) => keys.global(`trend-${tier}`)),
      keys.global('discovery'),
      keys.global('peering-audit'),
      keys.peeringNonce('{cluster}'),
      keys.offer('{id}'),
      keys.pressure('{node}'),
      keys.operation('{id}'),
      keys.decision('{id}'),
      keys.seenEvent('{id}'),
      keys.lease('{name}'),
    ].sort(),
  );
});

test('the tree names every folder of the product, and imports are listed from the bottom up', () => {
  const named = [...tableRows(page, 'Tree').keys()].flatMap((row) =>
    row.split(', ').map((folder) => folder.replace(/\/(<name>\/)?$/, '')),
  );
  const missing = layers
    .map(({ path }) => path)
    .filter(
      (path) =>
        !named.some((folder) => path === folder || path.startsWith(`${folder}/`)) && path !== 'shared/crypto',
    );
  expect(missing).toEqual([]);
  const order = layers
    .map(({ path }) => path)
    .filter((path) => named.includes(path) && path.startsWith('shared/'));
  expect(named.filter((folder) => order.includes(folder))).toEqual(order);
});
