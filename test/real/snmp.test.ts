import { promisify } from 'node:util';
import snmp, { type Varbind } from 'net-snmp';
import {
  agentUser,
  plainUser,
  type Snmpsim,
  startRelay,
  startSnmpsim,
} from '../../tools/real-stack/snmpsim.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { driverContract } from '../drivers/contract.ts';
import { driverOf, failing, machineSpec, patient } from '../drivers/harness.ts';

const community = 'canary-9f3c';
const control = '1.3.6.1.4.1.318.1.1.12.3.3.1.1.4';
const rows = [
  `${control}.1|2:writecache|value=2`,
  `${control}.2|2:error|op=set,status=noaccess,value=1`,
  `${control}.3|2:delay|value=1,wait=3000`,
  `${control}.4|2|1`,
  `${control}.5|4|on`,
];
const { on, off } = { on: 1, off: 2 };

let agent: Snmpsim | undefined;
const startAgent = async (): Promise<Snmpsim> => {
  agent ??= await startSnmpsim(community, rows);
  return agent;
};
afterAll(() => agent?.close());

/** The agent's outlet, asked and set beside the driver. */
async function outlet(port: number, value?: number): Promise<number> {
  const session = snmp.createSession('127.0.0.1', community, { port, version: snmp.Version2c });
  try {
    const oid = `${control}.1`;
    const work = (done: (error: Error | null, found?: Varbind[]) => void) =>
      value === undefined
        ? session.get([oid], done)
        : session.set([{ oid, type: snmp.ObjectType.Integer, value }], done);
    const found = (await promisify(work)()) as Varbind[] | undefined;
    return Number(found?.[0]?.value);
  } finally {
    session.close();
  }
}

for (const version of ['1', '2c', '3'] as const)
  driverContract({
    name: `snmp-pdu on snmpsim, version ${version}`,
    programs: ['python3'],
    capabilities: { status: true, softOff: false, hardOff: true, bootFromNetwork: false, sensors: false },
    wrongOptions: { outlet: { outlet: -1 } },
    shortMs: 1_000,
    // The first start may have to install it.
    patienceMs: 40_000,
    // Who writes to a version 1 or 2c agent with a wrong community gets no answer.
    lacks: ['inBetween', ...(version === '3' ? [] : (['refuseCredentials'] as const))],
    async start() {
      const { port } = await startAgent();
      await outlet(port, off);
      const relay = await startRelay(port);
      let secret: Record<string, string> = version === '3' ? plainUser : { community };
      return {
        spec: machineSpec(`127.0.0.1:${relay.port}`, {
          powerInterface: 'snmp-pdu',
          options: {
            preset: 'apc',
            outlet: 1,
            version,
            ...(version === '3' && { authProtocol: 'sha256', context: community }),
          },
        }),
        deps: { credentials: async () => secret },
        power: async () => ((await outlet(port)) === on ? 'on' : 'off'),
        become: async (power) => void (await outlet(port, power === 'on' ? on : off)),
        commands: () => relay.writes,
        silence() {
          relay.silent = true;
        },
        refuseCredentials() {
          secret = { ...plainUser, authKey: 'canary-wrong-9f3c' };
        },
        mend() {
          relay.silent = false;
        },
        vanish: () => relay.close(),
        close: () => relay.close(),
      };
    },
  });

describeWith(['python3'], 'the snmp-pdu driver on snmpsim', () => {
  let port: number;
  beforeAll(async () => {
    ({ port } = await startAgent());
  }, 120_000);

  const driver = (number: number, options: object = {}, secret: Record<string, string> = { community }) =>
    driverOf(
      machineSpec(`127.0.0.1:${port}`, {
        powerInterface: 'snmp-pdu',
        options: { preset: 'apc', outlet: number, retries: 0, ...options },
      }),
      { credentials: async () => secret },
    );
  const told = async (work: () => Promise<unknown>) => {
    const { code, message } = await failing(work);
    return { code, message };
  };

  test('an outlet we may not switch is refused by an error, a read-only one by a value', async () => {
    expect(await told(async () => (await driver(2)).set('on', patient(), 'op-1'))).toEqual({
      code: 'refused',
      message: 'mini-1: its PDU refused: no access',
    });
    expect(await told(async () => (await driver(4)).set('hard-off', patient(), 'op-1'))).toEqual({
      code: 'refused',
      message: `mini-1: its PDU has no ${control}.4 that can be set`,
    });
  });

  test('what is not there, and what is not a number, is no outlet', async () => {
    expect((await told(async () => (await driver(9)).read(patient()))).code).toBe('refused');
    expect((await told(async () => (await driver(5)).read(patient()))).message).toContain('is no outlet');
  });

  test('a PDU that is slow is a time-out, and patience helps', async () => {
    const slow = await driver(3);
    expect((await told(() => slow.read(AbortSignal.timeout(500)))).code).toBe('timeout');
    const patiently = await driver(3, { retries: 5 });
    expect(await patiently.read(patient())).toEqual({ power: 'on' });
  });

  test('version 3, encrypted: right keys work, wrong ones are final, an unknown user too', async () => {
    const options = { version: '3', authProtocol: 'sha256', context: community, retries: 3 };
    const encrypted = await driver(1, options, agentUser);
    await encrypted.set('on', patient(), 'op-1');
    expect(await encrypted.read(patient())).toEqual({ power: 'on' });
    await encrypted.set('hard-off', patient(), 'op-2');
    expect(await encrypted.read(patient())).toEqual({ power: 'off' });
    for (const wrong of [
      { authKey: 'canary-nope-9f3c' },
      { privKey: 'canary-nope-9f3c' },
      { username: 'nobody' },
    ])
      expect(
        (await told(async () => (await driver(1, options, { ...agentUser, ...wrong })).read(patient()))).code,
      ).toBe('auth');
  });
});
