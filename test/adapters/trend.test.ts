import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { Store } from '../../shared/ports/store.ts';
import { keys } from '../../shared/state/keys.ts';
import { createTrendWriter, readTrend } from '../../shared/state/trend.ts';

const minute = 60_000;
let store: Store;
beforeEach(async () => {
  store = await openStore('embedded:');
});
afterEach(() => store.close());

const lease = async () => {
  const taken = await store.acquire('evaluate', 60_000, 'me');
  if (!taken) throw new Error('no lease');
  return taken;
};

test('a sample a minute is kept as it was, by two instances as by one', async () => {
  const fence = await lease();
  const one = createTrendWriter(store);
  const other = createTrendWriter(store);
  const sinces: number[] = [];
  const at = (now: number) => (since: number) => {
    sinces.push(since);
    return { at: now, values: now === minute ? { 'state/ready': 1 } : { 'state/ready': 2, 'used/a': 50 } };
  };
  await one(at(minute), fence, minute);
  await other(at(minute + 1_000), fence, minute + 1_000);
  await one(at(minute + 2_000), fence, minute + 2_000);
  await other(at(2 * minute), fence, 2 * minute);
  expect((await readTrend(store)).minute).toEqual([
    { at: minute, values: { 'state/ready': 1 } },
    { at: 2 * minute, values: { 'state/ready': 2, 'used/a': 50 } },
  ]);
  expect(sinces).toEqual([0, minute]);
});

test('a full series of five pools stays small', async () => {
  const fence = await lease();
  const write = createTrendWriter(store);
  const values = Object.fromEntries(
    Array.from({ length: 18 }, (_, index) => [`state/of-this-length-${index}`, 100 + index]),
  );
  for (let now = minute; now <= 400 * minute; now += minute)
    await write(() => ({ at: now, values }), fence, now);
  const entry = await store.get(keys.global('trend-minute'));
  expect(JSON.stringify(entry?.value).length).toBeLessThan(64_000);
  expect((await readTrend(store)).minute).toHaveLength(360);
});
