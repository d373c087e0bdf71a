import { openTransport } from '../../../shared/drivers/ipmi/transport.ts';
import { closing } from '../../support/cleanup.ts';
import { failing, patient } from '../harness.ts';
import { type IpmiBmc, type IpmiBmcOptions, startIpmiBmc } from './ipmi-bmc.ts';
import { ipmiDriver } from './ipmi-harness.ts';
import { type RelayFaults, startRelay } from './ipmi-relay.ts';

let bmc: IpmiBmc;
const start = async (options: IpmiBmcOptions = {}) => {
  bmc = await startIpmiBmc(options);
  return ipmiDriver(bmc.port, { options: { retransmitAfter: '40ms' } });
};
afterEach(() => bmc.close());

const steps = ['06.38', 'open', 'rakp1', 'rakp3', '06.3b', '00.02', '06.3c'];

test.each(steps)('the first answer to %s is lost', async (step) => {
  const driver = await start({ tamper: (answer, to, nth) => (to === step && nth === 1 ? [] : [answer]) });
  await driver.set('on', patient(), 'op-1');
  expect(bmc.chassis.on).toBe(true);
  expect(bmc.openSessions).toBe(0);
});

test.each(steps)('all answers to %s come twice', async (step) => {
  const driver = await start({ tamper: (answer, to) => (to === step ? [answer, answer] : [answer]) });
  await driver.set('on', patient(), 'op-1');
  expect((await driver.read(patient())).power).toBe('on');
  expect(bmc.chassis.controls).toEqual([1]);
  expect(bmc.openSessions).toBe(0);
});

test.each(steps)('the first answer to %s is damaged', async (step) => {
  const damage = (answer: Buffer) => {
    const copy = Buffer.from(answer);
    copy[copy.length - 3] = (copy.at(-3) ?? 0) ^ 0x10;
    return copy;
  };
  const driver = await start({
    tamper: (answer, to, nth) => [to === step && nth === 1 ? damage(answer) : answer],
  });
  await driver.set('on', patient(), 'op-1');
  expect(bmc.chassis.on).toBe(true);
  expect(bmc.openSessions).toBe(0);
});

test('an answer that nobody signed is not believed', async () => {
  let sealed: Buffer | undefined;
  const driver = await start({
    tamper: (answer, to) => {
      if (to !== '00.01') return [answer];
      sealed = answer;
      // Same packet, but it says of itself that it is not signed.
      const bare = Buffer.from(answer.subarray(0, -16));
      bare[5] = 0x80;
      return [bare];
    },
  });
  const error = await failing(() => driver.read(AbortSignal.timeout(300)));
  expect(sealed).toBeDefined();
  expect(error.code).toBe('timeout');
});

test('an old answer played again is not taken for the new one', async () => {
  const answers: Buffer[] = [];
  const driver = await start({
    tamper: (answer, to) => {
      if (!to.startsWith('00.')) return [answer];
      answers.push(answer);
      // Every answer of the session so far, the newest last.
      return answers;
    },
  });
  bmc.chassis.strict = true;
  await driver.set('hard-off', patient(), 'op-1');
  expect(bmc.received.filter((name) => name === '00.01')).toHaveLength(1);
});

test('a BMC that falls silent in the middle is a time-out, and its session is closed all the same', async () => {
  const driver = await start({ tamper: (answer, to) => (to === '00.02' ? [] : [answer]) });
  const error = await failing(() => driver.set('on', patient(), 'op-1'));
  expect(error).toMatchObject({ code: 'timeout', final: false });
  // Four logins, each with four tries.
  expect(bmc.received.filter((name) => name === '00.02')).toHaveLength(16);
  expect(bmc.openSessions).toBe(0);
  expect(bmc.closedSessions).toBe(4);
});

test('a BMC that never answers is a time-out', async () => {
  const driver = await start({ tamper: () => [] });
  const error = await failing(() => driver.read(patient()));
  expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('did not answer') });
  expect(bmc.received).toEqual(Array(16).fill('06.38'));
});

test.each(steps.slice(0, -1))('after an abort during %s nothing is sent but the close', async (step) => {
  const abort = new AbortController();
  const driver = await start({
    tamper: (answer, to) => {
      if (to !== step) return [answer];
      abort.abort();
      return [];
    },
  });
  const error = await failing(() => driver.set('on', abort.signal, 'op-1'));
  expect(error.code).toBe('timeout');
  const after = bmc.received.slice(bmc.received.indexOf(step) + 1);
  expect(after.filter((name) => name !== '06.3c')).toEqual([]);
  expect(bmc.openSessions).toBe(0);
});

test('aborted before it begins, it sends nothing at all', async () => {
  const driver = await start();
  const error = await failing(() => driver.set('on', AbortSignal.abort(), 'op-1'));
  expect(error.code).toBe('timeout');
  expect(bmc.received).toEqual([]);
});

test('between two packets of a call an abort counts too', async () => {
  await start();
  using line = await openTransport('127.0.0.1', bmc.port);
  let made = 0;
  const packet = () => {
    made++;
    return Buffer.alloc(1);
  };
  const patience = { afterMs: 10, tries: 2 };
  expect(await line.exchange(packet, () => true, patience, AbortSignal.abort())).toBeUndefined();
  expect(made).toBe(0);
});

test.each<RelayFaults>([
  { loss: 0.2 },
  { duplicate: 0.5 },
  { reorder: 0.3 },
  { loss: 0.1, duplicate: 0.2, reorder: 0.1, corrupt: 0.02 },
])('ten calls over a line with %j', async (faults) => {
  await start({ mostSessions: 64 });
  const relay = closing(await startRelay(bmc.port, 7, faults));
  const driver = await ipmiDriver(relay.port, { options: { retransmitAfter: '40ms', retransmitTries: 6 } });
  for (let call = 0; call < 5; call++) {
    const on = call % 2 === 0;
    await driver.set(on ? 'on' : 'hard-off', patient(), `op-${call}`);
    expect((await driver.read(patient())).power).toBe(on ? 'on' : 'off');
  }
  expect(relay.packets).toBeGreaterThan(100);
  expect(bmc.openSessions).toBe(0);
});
