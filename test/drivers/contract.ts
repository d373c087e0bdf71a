import { inspect } from 'node:util';
import type { MachineSpec, PowerVerb } from '../../shared/core/machine/machine.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import type { Capabilities, DriverDeps, PowerDriver } from '../../shared/ports/power.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { deps as defaultDeps } from './harness.ts';

/*
 * What every power driver promises, whatever it speaks. To plug one in, write test/drivers/<name>-contract.test.ts:
 *
 *   driverContract({ name: 'redfish', capabilities: {…}, wrongOptions: {…}, start: async () => ({ spec, power, … }) });
 *
 * `start` is called anew for every test; the peer it returns is the device (or a fake of it) and the way the test looks
 * at it and breaks it behind the driver's back. Hooks that mean nothing for the device are named in `lacks`: what they
 * show is then not tested, so leave out as few as possible.
 */
interface DriverPeer {
  /** As the inventory has it: powerInterface, mgmtAddress, options, bmcCredentials … It is off at the start. */
  readonly spec: MachineSpec;
  /** Instead of those of test/drivers/harness.ts: other credentials, node evidence, Jobs … */
  readonly deps?: Partial<DriverDeps>;
  /** What the device really is, `unknown` while it changes. */
  power(): 'on' | 'off' | 'unknown' | Promise<'on' | 'off' | 'unknown'>;
  /** Makes it so by hand; it is so when this returns. */
  become(power: 'on' | 'off'): void | Promise<void>;
  /** How many commands that change power the device was given so far, taken or not. */
  commands(): number | Promise<number>;
  /** Neither on nor off, for as long as the test takes. */
  inBetween?(): void | Promise<void>;
  /** From now on it reads what it is sent and answers nothing, until `mend`. */
  silence?(): void | Promise<void>;
  /** From now on our credentials are the wrong ones. */
  refuseCredentials?(): void | Promise<void>;
  /** Whatever `silence` and `refuseCredentials` did is undone. */
  mend?(): void | Promise<void>;
  /** Nobody is there any more. */
  vanish?(): void | Promise<void>;
  close(): void | Promise<void>;
}

type Hook = 'inBetween' | 'silence' | 'refuseCredentials' | 'vanish';

export interface DriverHarness {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Options that are wrong, by what the error has to say of them (the field). */
  readonly wrongOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** False: it talks to nobody by address (a Job). */
  readonly connects?: boolean;
  /** Hooks that mean nothing for the device. */
  readonly lacks?: readonly Hook[];
  /** Programs without which it cannot be tested. */
  readonly programs?: readonly string[];
  /** How long the device may take to change its power, and a command to be taken. */
  readonly patienceMs?: number;
  /** How long to wait for an answer that never comes. */
  readonly shortMs?: number;
  start(): Promise<DriverPeer>;
}

const verbs: Readonly<Record<PowerVerb, { goal: 'on' | 'off'; able: (able: Capabilities) => boolean }>> = {
  on: { goal: 'on', able: () => true },
  'soft-off': { goal: 'off', able: ({ softOff }) => softOff },
  'hard-off': { goal: 'off', able: ({ hardOff }) => hardOff },
};

export function driverContract(harness: DriverHarness): void {
  const { capabilities, lacks = [], connects = true, patienceMs = 20_000, shortMs = 300 } = harness;
  const testMs = 20_000 + 4 * patienceMs;
  const allVerbs = Object.keys(verbs) as PowerVerb[];
  const able = allVerbs.filter((verb) => verbs[verb].able(capabilities));
  const unable = allVerbs.filter((verb) => !able.includes(verb));

  describeWith(harness.programs ?? [], `the contract of a power driver: ${harness.name}`, () => {
    let peer: DriverPeer;
    let deps: DriverDeps;
    let driver: PowerDriver;
    let operations = 0;
    beforeEach(async () => {
      peer = await harness.start();
      deps = { ...defaultDeps, ...peer.deps };
      driver = await driverFor(peer.spec, deps);
    }, testMs);
    afterEach(() => peer.close(), testMs);

    const patient = () => AbortSignal.timeout(patienceMs);
    const impatient = () => AbortSignal.timeout(shortMs);
    const newOperation = () => {
      operations += 1;
      return `op-${operations}`;
    };
    const read = async (signal = patient()) => (await driver.read(signal)).power;
    const becomes = (power: 'on' | 'off') =>
      eventually(async () => expect(await peer.power()).toBe(power), patienceMs);
    const failure = async (work: () => Promise<unknown>): Promise<PowerError> => {
      const error = await work().then(
        () => undefined,
        (problem: unknown) => problem,
      );
      await expectNoSecret(error, peer.spec, deps);
      expect(error).toBeInstanceOf(PowerError);
      return error as PowerError;
    };
    const calls: readonly [string, (signal: AbortSignal) => Promise<unknown>][] = [
      ...(capabilities.status ? [['read', (signal) => driver.read(signal)] as (typeof calls)[number]] : []),
      ...able.map((verb): (typeof calls)[number] => [
        verb,
        (signal) => driver.set(verb, signal, newOperation()),
      ]),
    ];
    const breakBy = async (hook: Hook): Promise<void> => {
      const act = peer[hook];
      if (!act) throw new Error(`${harness.name}: the peer has no ${hook}: add it, or name it in lacks`);
      await act.call(peer);
    };
    const has = (hook: Hook): boolean => !lacks.includes(hook);

    test('says what it can do, and has the methods for it', () => {
      expect(driver.capabilities).toEqual(capabilities);
      expect({
        bootFromNetwork: driver.bootFromNetwork !== undefined,
        sensors: driver.sense !== undefined,
      }).toEqual({ bootFromNetwork: capabilities.bootFromNetwork, sensors: capabilities.sensors });
    });

    test(
      'tells on from off, and never off from a guess',
      async () => {
        for (const power of ['on', 'off', 'on'] as const) {
          await peer.become(power);
          expect(capabilities.status ? [power] : [power, 'unknown']).toContain(await read());
        }
      },
      testMs,
    );

    if (has('inBetween'))
      test('tells neither on nor off in between', async () => {
        await breakBy('inBetween');
        expect(await read()).toBe('unknown');
      });

    test.each(able)(
      '%s: does it; again and when it is so already, it changes nothing',
      async (verb) => {
        const { goal } = verbs[verb];
        await peer.become(goal === 'on' ? 'off' : 'on');
        const operation = newOperation();
        await driver.set(verb, patient(), operation);
        await becomes(goal);
        await driver.set(verb, patient(), operation);
        await driver.set(verb, patient(), newOperation());
        await becomes(goal);
        expect(capabilities.status ? [goal] : [goal, 'unknown']).toContain(await read());
      },
      testMs,
    );

    if (unable.length > 0)
      test.each(unable)(
        '%s: what it cannot do is refused, and the device hears nothing of it',
        async (verb) => {
          await peer.become('on');
          const before = await peer.commands();
          const error = await failure(() => driver.set(verb, patient(), newOperation()));
          expect(['refused', 'config']).toContain(error.code);
          expect(await peer.commands()).toBe(before);
          expect(await peer.power()).toBe('on');
        },
      );

    if (has('silence'))
      test.each(calls)(
        '%s: no answer is a time-out, which says nothing about the power',
        async (_, call) => {
          await breakBy('silence');
          expect(await failure(() => call(impatient()))).toMatchObject({ code: 'timeout', final: false });
        },
        testMs,
      );

    if (has('refuseCredentials'))
      test.each(calls)(
        '%s: refused credentials are final',
        async (_, call) => {
          await breakBy('refuseCredentials');
          expect(await failure(() => call(patient()))).toMatchObject({ code: 'auth', final: true });
        },
        testMs,
      );

    if (has('vanish'))
      test.each(calls)(
        '%s: nobody there leaves the power unknown',
        async (_, call) => {
          await breakBy('vanish');
          const error = await failure(() => call(AbortSignal.timeout(Math.max(shortMs, 2000))));
          expect(['unreachable', 'timeout']).toContain(error.code);
        },
        testMs,
      );

    test.each(able)(
      '%s: a signal that is aborted already sends nothing',
      async (verb) => {
        const before = await peer.commands();
        const error = await failure(() => driver.set(verb, AbortSignal.abort(), newOperation()));
        expect(error.code).toBe('timeout');
        await settled();
        expect(await peer.commands()).toBe(before);
      },
      testMs,
    );

    if (has('silence'))
      test.each(able)(
        '%s: nothing is sent after the signal aborts, though the device answers again',
        async (verb) => {
          await breakBy('silence');
          await failure(() => driver.set(verb, impatient(), newOperation()));
          const before = await peer.commands();
          await peer.mend?.();
          await settled();
          expect(await peer.commands()).toBe(before);
        },
        testMs,
      );

    test('options that are wrong are a mistake to mend, named by their field', async () => {
      const wrong = { ...harness.wrongOptions, nonsense: { nonsense: true } };
      for (const [field, options] of Object.entries(wrong)) {
        const spec = { ...peer.spec, options: { ...peer.spec.options, ...options } };
        const error = await failure(() => driverFor(spec, deps));
        expect(error).toMatchObject({ code: 'config', final: true });
        expect(error.message).toContain(field);
        expect(error.message).toContain(peer.spec.name);
      }
    });

    if (has('refuseCredentials'))
      test('credentials that lack something are a mistake to mend', async () => {
        driver = await driverFor(peer.spec, { ...deps, credentials: async () => ({}) });
        const error = await failure(() => driver.set('on', patient(), newOperation()));
        expect(error).toMatchObject({ code: 'config', final: true });
        expect(error.message).toContain(peer.spec.bmcCredentials ?? 'bmcCredentials');
      });

    if (connects)
      test('fault 35: an address outside the allowed networks is not talked to', async () => {
        const forbidden = new PowerError('config', 'outside of the allowed networks');
        const asked: string[] = [];
        const resolve = async (host: string) => {
          asked.push(host);
          throw forbidden;
        };
        driver = await driverFor(peer.spec, { ...deps, resolve });
        const before = await peer.commands();
        const error = await failure(() => driver.set('on', patient(), newOperation()));
        expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(forbidden.message) });
        expect(asked).not.toEqual([]);
        expect(await peer.commands()).toBe(before);
      });

    /** Whatever was on its way has arrived by then: something sent later was answered. */
    async function settled(): Promise<void> {
      const fresh = await driverFor(peer.spec, deps);
      if (capabilities.status) await fresh.read(patient());
      else await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}

/** However deep one looks, and whatever a secret looks like on its way. */
async function expectNoSecret(
  error: unknown,
  { bmcCredentials }: MachineSpec,
  deps: DriverDeps,
): Promise<void> {
  if (bmcCredentials === undefined) return;
  const { username = '', ...secrets } = await deps.credentials(bmcCredentials);
  const shown = [
    inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null }),
    JSON.stringify(error),
    error instanceof Error ? (error.stack ?? '') : '',
  ].join('\n');
  for (const secret of Object.values(secrets))
    for (const form of [
      secret,
      ...(['base64', 'base64url', 'hex'] as const).map((as) => encoded(secret, as)),
      encoded(`${username}:${secret}`, 'base64'),
      encodeURIComponent(secret),
    ])
      expect(shown).not.toContain(form);
}

const encoded = (text: string, as: BufferEncoding): string => Buffer.from(text).toString(as);
