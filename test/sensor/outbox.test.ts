import { createOutbox, type Outbox } from '../../sensor/outbox.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import type { PressureReport } from '../../shared/schema/pressure.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { report } from './report.ts';

const log = createLog({ level: 'silent', format: 'json' });
let outbox: Outbox;
afterEach(() => outbox.close());

const sequences = (reports: readonly PressureReport[]): number[] => reports.map(({ sequence }) => sequence);

test('sends what it is given, one event for each', async () => {
  const taken: PressureReport[] = [];
  outbox = createOutbox({ send: async (one) => void taken.push(one), clock: realClock, log, gapMs: 0 });
  outbox.put(report({ sequence: 1 }));
  outbox.put(report({ sequence: 2, category: 'memory' }));
  await eventually(() => expect(sequences(taken)).toEqual([1, 2]));
  expect(outbox.waiting).toBe(0);
});

test('holds one per category however long nobody takes it, and then sends the newest', async () => {
  const taken: PressureReport[] = [];
  let tries = 0;
  let down = true;
  const send = async (one: PressureReport): Promise<void> => {
    tries += 1;
    if (down) throw new Error('nobody there');
    taken.push(one);
  };
  const clock = { ...realClock, sleep: () => realClock.sleep(1) };
  outbox = createOutbox({ send, clock, log, gapMs: 0 });
  for (let sequence = 1; sequence <= 1000; sequence += 1) outbox.put(report({ sequence }));
  outbox.put(report({ sequence: 1001, category: 'storage' }));
  await eventually(() => expect(tries).toBeGreaterThan(3));
  expect(outbox.waiting).toBe(2);
  down = false;
  await eventually(() => expect(sequences(taken).toSorted()).toEqual([1000, 1001]));
});

test('no more than one event of a category in the gap', async () => {
  const slept: number[] = [];
  let now = 0;
  const clock = {
    ...realClock,
    monotonic: () => now,
    sleep: async (ms: number) => {
      slept.push(ms);
      now += ms;
    },
  };
  const taken: PressureReport[] = [];
  outbox = createOutbox({ send: async (one) => void taken.push(one), clock, log, gapMs: 1000 });
  outbox.put(report({ sequence: 1 }));
  await eventually(() => expect(taken).toHaveLength(1));
  outbox.put(report({ sequence: 2 }));
  await eventually(() => expect(taken).toHaveLength(2));
  expect(slept).toEqual([1000]);
});

test('what comes while another of its category is on the way is sent after it', async () => {
  const taken: PressureReport[] = [];
  const gate = Promise.withResolvers<void>();
  const send = async (one: PressureReport): Promise<void> => {
    taken.push(one);
    await gate.promise;
  };
  outbox = createOutbox({ send, clock: realClock, log, gapMs: 0 });
  outbox.put(report({ sequence: 1 }));
  await eventually(() => expect(sequences(taken)).toEqual([1]));
  outbox.put(report({ sequence: 2 }));
  gate.resolve();
  await eventually(() => expect(sequences(taken)).toEqual([1, 2]));
});
