import { connect } from '../../apps/host/connect.ts';
import { defaultNetworks, networkGuard } from '../../shared/http/network-guard.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { createLog } from '../../shared/process/log.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { fc } from '../../tools/support/seeded.ts';

const failing = async (work: Promise<unknown>): Promise<PowerError> => {
  const error = await work.catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(PowerError);
  return error as PowerError;
};
const noName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
const elsewhere = networkGuard(defaultNetworks('0.0.0.0'), noName);
const athome = networkGuard(defaultNetworks('127.0.0.1'), noName);
const everywhere = networkGuard(['0.0.0.0/0', '::/0'], noName);

test.each(['10.1.2.3', '172.16.0.1', '172.31.255.254', '192.168.7.9', 'fd12::7'])(
  '%s is where BMCs are',
  async (address) => {
    expect(await elsewhere(address)).toBe(address);
  },
);

test.each(['8.8.8.8', '172.32.0.1', '100.64.0.1', '2600::1', '127.0.0.1', '::1'])(
  '%s is not, and the error says what to set',
  async (address) => {
    const error = await failing(elsewhere(address));
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toContain('add its network to BAMEL_ALLOWED_NETWORKS');
  },
);

test('loopback is allowed only while the process listens nowhere else', async () => {
  expect(await athome('127.0.0.1')).toBe('127.0.0.1');
  expect(await athome('::1')).toBe('::1');
  for (const host of ['0.0.0.0', '::', '10.0.0.7'])
    expect((await failing(networkGuard(defaultNetworks(host))('127.0.0.1'))).code).toBe('config');
});

test.each([
  ['169.254.169.254', 'cloud metadata'],
  ['fe80::1', 'link-local'],
  ['0.0.0.0', 'no address'],
  ['::', 'no address'],
  ['224.0.0.1', 'multicast'],
  ['ff02::1', 'multicast'],
  ['255.255.255.255', 'reserved'],
  ['fd00:ec2::254', 'cloud metadata'],
  ['100.100.100.200', 'cloud metadata'],
  ['::ffff:10.0.0.1', 'an IPv4 address written as IPv6'],
  ['::ffff:a9fe:a9fe', 'an IPv4 address written as IPv6'],
  ['64:ff9b::a9fe:a9fe', 'an IPv4 address written as IPv6'],
  ['2002:a9fe:a9fe::1', 'an IPv4 address written as IPv6'],
])('%s is never talked to, whatever is allowed', async (address, what) => {
  expect((await failing(everywhere(address))).message).toContain(what);
});

test.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '10.0.0.08', '10.0.0.5.', 'a.1'])(
  '%s is no way to write an address, and nobody is asked what it could mean',
  async (host) => {
    const asked: string[] = [];
    const guard = networkGuard(['0.0.0.0/0'], async (name) => {
      asked.push(name);
      return [name];
    });
    expect((await failing(guard(host))).code).toBe('config');
    expect(asked).toEqual([]);
  },
);

test('an IPv6 zone is refused', async () => {
  expect((await failing(everywhere('fe80::1%lo'))).code).toBe('config');
});

test('a name that cannot be looked up is unreachable: name servers fail too', async () => {
  expect(await failing(elsewhere('bmc.example'))).toMatchObject({
    code: 'unreachable',
    message: 'bmc.example cannot be looked up (ENOTFOUND)',
  });
});

test('of several addresses the first allowed one is taken', async () => {
  const guard = networkGuard(defaultNetworks(''), async () => [
    'fe80::9',
    '8.8.8.8',
    '10.0.0.9',
    '10.0.0.10',
  ]);
  expect(await guard('bmc.example')).toBe('10.0.0.9');
});

describe('fault 35: SSRF through mgmtAddress', () => {
  /** What becomes of a look at such a machine, in a process with these settings. */
  async function lookAt(mgmtAddress: string, ...flags: string[]): Promise<PowerError> {
    const read = readSettings(['--store', 'embedded:', ...flags], {});
    if (!('settings' in read)) throw new Error('these settings ask for help');
    const log = createLog({ level: 'silent', format: 'json' });
    const { deps, close } = await connect({ settings: read.settings, log });
    try {
      const spec = { name: 'm-1', pool: 'p', powerInterface: 'redfish', mgmtAddress, resources: {} };
      return await failing((await deps.driverFor(spec)).read(AbortSignal.timeout(20_000)));
    } finally {
      await close();
    }
  }

  test('the process itself goes nowhere else, by default and as it is told', async () => {
    const outside = await lookAt('http://8.8.8.8/');
    expect(outside).toMatchObject({ code: 'config', final: true });
    expect(outside.message).toMatch(/^m-1: 8\.8\.8\.8 is not talked to: .* outside of the allowed networks/);
    for (const metadata of [
      'http://169.254.169.254/',
      'http://[::ffff:169.254.169.254]/',
      'http://2852039166/',
    ])
      expect((await lookAt(metadata, '--allowed-networks', '0.0.0.0/0,::/0')).message).toContain(
        'is not talked to',
      );
    // Port 1: nobody is there, which is for the network to say and not for the guard.
    expect((await lookAt('http://127.0.0.1:1/')).code).toBe('unreachable');
    expect((await lookAt('http://127.0.0.1:1/', '--host', '0.0.0.0')).code).toBe('config');
    expect((await lookAt('http://127.0.0.1:1/', '--allowed-networks', '10.0.8.0/24, fd12::/64')).code).toBe(
      'config',
    );
  });

  test('networks that are none are refused at the start', () => {
    for (const networks of ['10.0.0.0', '10.0.0.0/33', 'anything', ','])
      expect(() => readSettings([`--allowed-networks=${networks}`], {})).toThrow('write networks such as');
  });

  const number = (address: readonly number[]) => address.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const within = (address: bigint, network: bigint, bits: bigint, size: bigint) =>
    address >> (size - bits) === network >> (size - bits);
  const bytes = fc.oneof(
    fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.constantFrom(
      [169, 254, 169, 254],
      [127, 0, 0, 1],
      [10, 0, 0, 1],
      [192, 168, 1, 1],
      [0, 0, 0, 0],
      [255, 255, 255, 255],
    ),
  );
  const hex = (bytes4: readonly number[]) => {
    const [a, b] = [bytes4.slice(0, 2), bytes4.slice(2)].map((pair) => Number(number(pair)).toString(16));
    return `${a}:${b}`;
  };
  /** One address, written in the ways that programs disagree about. */
  const forms: ((address: readonly number[]) => string)[] = [
    (address) => address.join('.'),
    (address) => String(number(address)),
    (address) => `0x${number(address).toString(16)}`,
    (address) => address.map((byte) => `0${byte.toString(8)}`).join('.'),
    (address) => address.map((byte) => `0x${byte.toString(16)}`).join('.'),
    ([a, b, c, d]) => `${a}.${((b ?? 0) << 16) + ((c ?? 0) << 8) + (d ?? 0)}`,
    (address) => `::ffff:${address.join('.')}`,
    (address) => `::ffff:${hex(address)}`,
    (address) => `::${hex(address)}`,
    (address) => `64:ff9b::${hex(address)}`,
    (address) => `2002:${hex(address)}::1`,
    (address) => `${address.join('.')}.`,
  ];

  test('whatever is written and whatever names resolve to, only an allowed address comes out', async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom(...forms),
        fc.boolean(),
        bytes,
        fc.nat(32),
        async (address, form, byName, network, bits) => {
          const allowed = `${network.join('.')}/${bits}`;
          const written = form(address);
          const guard = networkGuard([allowed], async () => [written]);
          const got = await guard(byName ? 'bmc.example' : written).catch((error: unknown) => error);
          if (typeof got !== 'string') {
            expect(got).toBeInstanceOf(PowerError);
            return;
          }
          // Four decimal numbers and nothing else, inside, and not where nobody ever goes.
          expect(got).toBe(address.join('.'));
          const value = number(address);
          expect(within(value, number(network), BigInt(bits), 32n)).toBe(true);
          for (const [a, b, length] of [
            [169, 254, 16n],
            [0, 0, 8n],
            [224, 0, 4n],
            [240, 0, 4n],
          ] as const)
            expect(within(value, number([a, b, 0, 0]), length, 32n)).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
