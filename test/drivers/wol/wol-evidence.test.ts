import { createServer } from 'node:net';
import { createWitness, hostIn, powerByNode } from '../../../shared/drivers/common/evidence.ts';
import { type DriverDeps, type NodeEvidence, PowerError } from '../../../shared/ports/power.ts';
import { deps, failing, machineSpec, patient } from '../harness.ts';

const node = (more: Partial<NodeEvidence>): NodeEvidence => ({
  node: 'mini-1',
  ready: true,
  heartbeatAgeMs: 5_000,
  addresses: [],
  ...more,
});

describe('what a node tells about the power of its machine', () => {
  test.each([
    ['there is none', undefined, 'off'],
    ['Ready, with a heartbeat', node({}), 'on'],
    ['Ready, but not heard of for longer than its lease', node({ heartbeatAgeMs: 41_000 }), 'unknown'],
    ['Ready, but without a lease', node({ heartbeatAgeMs: undefined }), 'unknown'],
    ['NotReady, but with a heartbeat', node({ ready: false }), 'unknown'],
    ['NotReady, and its lease has run out', node({ ready: false, heartbeatAgeMs: 41_000 }), 'off'],
    ['NotReady, and nobody ever renewed a lease', node({ ready: false, heartbeatAgeMs: undefined }), 'off'],
  ] as const)('%s', (_, evidence, power) => {
    expect(powerByNode(evidence)).toBe(power);
  });
});

describe('a witness', () => {
  const spec = machineSpec('mini-1.lan');
  const silent = node({ ready: false, heartbeatAgeMs: 60_000, addresses: ['10.0.0.7'] });
  const witness = (evidence: NodeEvidence | undefined, isThere?: (host: string) => boolean) =>
    createWitness(
      spec,
      isThere && { port: 22 },
      { ...deps, nodeOf: async () => evidence },
      async (host, port) => {
        expect(port).toBe(22);
        return isThere?.(host) ?? false;
      },
    );

  test('says off only as something inferred', async () => {
    expect(await witness(undefined)(patient())).toEqual({ power: 'off', inferred: true });
    expect(await witness(node({}))(patient())).toEqual({ power: 'on' });
  });

  test('asks every address it knows, and off only when none of them answers', async () => {
    const asked: string[] = [];
    const nobody = (host: string) => asked.push(host) < 0;
    expect(await witness(silent, nobody)(patient())).toEqual({ power: 'off', inferred: true });
    expect(asked).toEqual(['mini-1.lan', '10.0.0.7']);
    expect(await witness(silent, (host) => host === '10.0.0.7')(patient())).toEqual({ power: 'unknown' });
  });

  test('does not ask an address of the node’s own that is not allowed, but fails on a configured one', async () => {
    const asked: string[] = [];
    const only =
      (allowed: string): DriverDeps['resolve'] =>
      async (host) => {
        if (host !== allowed) throw new PowerError('config', 'not allowed');
        return host;
      };
    const guarded = (allowed: string) =>
      createWitness(
        spec,
        { port: 22 },
        { nodeOf: async () => silent, resolve: only(allowed) },
        async (host) => asked.push(host) < 0,
      );
    expect(await guarded('mini-1.lan')(patient())).toEqual({ power: 'off', inferred: true });
    expect(asked).toEqual(['mini-1.lan']);
    expect((await failing(() => guarded('10.0.0.7')(patient()))).code).toBe('config');
  });

  test('does not probe what its node shows to be on', async () => {
    const never = () => {
      throw new Error('probed');
    };
    expect(await witness(node({}), never)(patient())).toEqual({ power: 'on' });
  });

  test('takes a port that answers, and one that refuses, for somebody being there', async () => {
    const server = createServer((socket) => void socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const onLoopback = createWitness(machineSpec('127.0.0.1'), { port }, deps);
    expect(await onLoopback(patient())).toEqual({ power: 'unknown' });
    await new Promise((resolve) => server.close(resolve));
    expect(await onLoopback(patient())).toEqual({ power: 'unknown' });
  });

  test('a cluster that does not answer in time is a time-out', async () => {
    const hanging = createWitness(spec, undefined, { ...deps, nodeOf: () => new Promise(() => undefined) });
    expect(await failing(() => hanging(AbortSignal.timeout(20)))).toMatchObject({ code: 'timeout' });
  });

  test('a probe without an address is a mistake to mend', async () => {
    const nowhere = { ...spec, mgmtAddress: undefined };
    const error = await failing(async () => createWitness(nowhere, { port: 22 }, deps));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('probe.address') });
  });
});

test.each([
  ['https://bmc.lan:8443/x', 'bmc.lan'],
  ['bmc.lan', 'bmc.lan'],
  ['bmc.lan:161', 'bmc.lan'],
  ['10.0.0.5:161', '10.0.0.5'],
  ['fd00::5', 'fd00::5'],
  ['http://[fd00::5]:80', 'fd00::5'],
  [undefined, undefined],
])('the host in %p is %p', (address, host) => {
  expect(hostIn(address)).toBe(host);
});
