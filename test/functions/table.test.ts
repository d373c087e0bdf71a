import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wakeOnCluster } from '../../apps/host/wake-on-cluster.ts';
import { functionTable } from '../../functions/index.ts';
import { events, foreignEvents, machineEvent } from '../../shared/ports/event-types.ts';
import { wakingPattern } from '../../shared/server/event-type.ts';

const folder = fileURLToPath(new URL('../../functions/', import.meta.url));
const definitions = functionTable.map(({ definition }) => definition);
const names = definitions.map(({ name }) => name);

/** What the host sends by itself: its tick, and what its watch of the cluster sees. */
const fromTheHost = [events.tick, events.podWaiting, events.nodeChanged, events.inventoryChanged];

/** What others make: whoever puts Alertmanager's webhook into a CloudEvent. */
const fromOthers = [events.alertReceived, events.pressureChanged];

/** The events that the files of a function name, by their names in the table of events. */
function namedIn(functionName: string): string[] {
  const source = readdirSync(join(folder, functionName))
    .map((file) => readFileSync(join(folder, functionName, file), 'utf8'))
    .join('\n');
  const used = [...source.matchAll(/\bevents\.(\w+)/g)].map(([, name]) => name as keyof typeof events);
  return [...new Set(used)].map((name) => events[name]).sort();
}

test('every folder with a handler is in the table, under its name, once, and nothing else is', () => {
  const folders = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'handler.ts')));
  expect([...names].sort()).toEqual(folders.sort());
  expect(new Set(names).size).toBe(names.length);
});

test('our events are dev.bamel.<noun>.<verb>, each once', () => {
  const types = Object.values(events);
  for (const type of types) expect(type).toMatch(/^dev\.bamel\.[a-z]+\.[a-z]+$/);
  expect(new Set(types).size).toBe(types.length);
});

test.each(definitions)('$name tells what it says it tells, and no more', ({ name, emits }) => {
  expect(namedIn(name)).toEqual([...emits].sort());
});

test.each(Object.entries(events))('%s is told by somebody and wakes somebody', (_, type) => {
  const tellers = definitions.filter(({ emits }) => emits.includes(type)).map(({ name }) => name);
  if (fromTheHost.some((own) => own === type)) tellers.push('the host');
  if (fromOthers.some((foreign) => foreign === type)) tellers.push('others');
  expect(tellers).not.toEqual([]);
  const woken = definitions.filter(({ wakesOn }) => wakingPattern(wakesOn, type));
  expect(woken).not.toEqual([]);
});

test('the host’s own events are those its watch and its tick send', () => {
  const sent: string[] = [];
  const { onPod, onNode, onResource } = wakeOnCluster(({ type }) => sent.push(type));
  const waiting = { unschedulable: 'no room', namespace: 'default' } as Parameters<typeof onPod>[0];
  onPod(waiting, undefined);
  onPod(waiting, waiting);
  onNode({ ready: true } as Parameters<typeof onNode>[0], undefined);
  const resource = { uid: 'u', generation: 1 } as NonNullable<Parameters<typeof onResource>[0]>;
  onResource(resource, undefined);
  onResource({ ...resource, status: { state: 'ready' } }, resource);
  expect([events.tick, ...sent]).toEqual(fromTheHost);
});

test('nothing that wakes a function is unknown', () => {
  const known: string[] = [...Object.values(events), ...Object.values(foreignEvents)];
  for (const { wakesOn } of definitions) expect(known).toEqual(expect.arrayContaining([...wakesOn]));
});

const woken = definitions.filter(({ takesAnyEvent }) => !takesAnyEvent);
test.each(woken)('$name is woken by a tick, ours and Knative’s', ({ wakesOn }) => {
  expect(wakesOn).toEqual(expect.arrayContaining([events.tick, foreignEvents.ping]));
});

describe.each(definitions)('$name', ({ input, wakesOn }) => {
  test('takes {}', () => {
    expect(input.safeParse({})).toMatchObject({ success: true });
  });

  for (const type of wakesOn.filter((type) => type.startsWith('dev.bamel.')))
    test(`takes the data of ${type}`, () => {
      expect(input.safeParse(machineEvent(type, 'm-1').data)).toMatchObject({ success: true });
    });

  test('takes no field that it does not know', () => {
    expect(input.safeParse({ machin: 'm-1' })).toMatchObject({ success: false });
  });
});
