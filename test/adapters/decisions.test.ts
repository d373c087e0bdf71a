import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import type { Lease, Store } from '../../shared/ports/store.ts';
import { newId } from '../../shared/process/ids.ts';
import { encode } from '../../shared/state/codec.ts';
import { openDecisions } from '../../shared/state/decisions.ts';
import { keys } from '../../shared/state/keys.ts';
import { leaseOf } from './inventory-harness.ts';

let store: Store;
let lease: Lease;
beforeEach(async () => {
  store = await openStore('embedded:');
  lease = await leaseOf(store, 'evaluate');
});
afterEach(() => store.close());

const decision = (summary: string, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  at: 1,
  digest: 'd',
  summary,
  wants: [],
  limits: [],
  notes: [],
  demand: [],
  candidates: [],
  unmet: [],
  intents: [],
  ...more,
});
const record = async (id: string, what: DecisionRecord, acted = false) =>
  (await openDecisions(store))(id, what, acted, lease);
const ids = async (prefix: string) =>
  (await store.list(prefix)).entries.map(({ key }) => key.slice(prefix.length));
const stats = async () => JSON.parse((await store.get(keys.global('stats')))?.value ?? 'null');

test('a decision is kept with what it saw, and counted', async () => {
  const what = decision('power on m-1', { intents: [{ kind: 'power-on', machine: 'm-1', why: 'fits' }] });
  await record('d-1', what, true);
  expect(JSON.parse((await store.get(keys.decision('d-1')))?.value ?? '')).toEqual({ v: 1, ...what });
  expect(await stats()).toEqual({
    v: 1,
    evaluations: 1,
    decisions: 1,
    lastEvaluation: { at: 1, decision: 'd-1', summary: 'power on m-1' },
  });
});

test('evaluations that say the same and do nothing are only counted', async () => {
  await record('d-1', decision('nothing to do'));
  for (let at = 2; at <= 10; at += 1) await record(`d-${at}`, decision('nothing to do', { at }));
  expect(await ids(keys.decisions)).toEqual(['d-1']);
  expect(await stats()).toMatchObject({
    evaluations: 10,
    decisions: 1,
    // The record that says it, and when it was last true.
    lastEvaluation: { at: 10, decision: 'd-1' },
  });
});

test('what was done is kept though it says the same, and so is the next that says another thing', async () => {
  const intents = [{ kind: 'drain', machine: 'm-1', why: 'idle' }] as const;
  await record('d-1', decision('same', { intents }), true);
  await record('d-2', decision('same', { intents }), true);
  // Decided again, as in a dry run, but not done.
  await record('d-3', decision('same', { intents }));
  await record('d-4', decision('other'));
  await record('d-5', decision('same'));
  expect(await ids(keys.decisions)).toEqual(['d-1', 'd-2', 'd-4', 'd-5']);
});

test('the newest are kept, and no operation that has not ended is ever forgotten', async () => {
  const put = (id: string, value: object) =>
    store.commit([], [{ put: keys.operation(id), value: encode(value) }]);
  const open = newId('op', 1);
  await put(open, { machine: 'm-1' });
  const ended: string[] = [];
  for (let at = 2; at <= 242; at += 1) {
    ended.push(newId('op', at));
    await put(ended.at(-1) ?? '', { machine: 'm-1', end: 'done' });
  }
  const decided: string[] = [];
  for (let at = 1; at <= 240; at += 1) {
    decided.push(newId('d', at));
    await record(decided.at(-1) ?? '', decision(`decision ${at}`));
  }
  expect(await ids(keys.decisions)).toEqual(decided.slice(-200));
  expect(await ids(keys.operations)).toEqual([open, ...ended.slice(-200)]);
});

test('who no longer holds the lease records nothing', async () => {
  await store.commit([], [{ delete: lease.fence.key }]);
  await leaseOf(store, 'evaluate');
  await record('d-1', decision('too late'));
  expect(await ids(keys.decisions)).toEqual([]);
  expect(await stats()).toBeNull();
});
