import { fileURLToPath } from 'node:url';
import {
  connectTwoHosts,
  type Frame,
  netnsPrograms,
  type Sniffer,
  type TwoHosts,
} from '../../tools/real-stack/netns.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';

const macAddress = '52:54:00:12:34:56';
const everybody = 'ff:ff:ff:ff:ff:ff';
const entry = fileURLToPath(new URL('../../tools/real-stack/wol-driver.ts', import.meta.url));

describeWith([...netnsPrograms, 'python3', 'wakeonlan', 'etherwake'], 'wol on a network of its own', () => {
  let hosts: TwoHosts;
  let sniffer: Sniffer;
  beforeEach(async () => {
    hosts = await connectTwoHosts();
    sniffer = await hosts.listen(2);
  });
  afterEach(async () => {
    await sniffer?.close();
    await hosts?.close();
  });

  const driver = (action: 'on' | 'read', options: object, more: object = {}) => {
    const spec = {
      name: 'mini-1',
      pool: 'closet',
      powerInterface: 'wol',
      macAddress,
      resources: {},
      options,
    };
    const { secureOn, ...rest } = more as { secureOn?: string };
    const wanted = {
      action,
      secureOn,
      spec: { ...spec, ...rest, ...(secureOn && { bmcCredentials: 'mini-1-wol' }) },
    };
    return hosts.at(1, process.execPath, [entry, JSON.stringify(wanted)]);
  };
  const magic = (): Frame[] => sniffer.frames.filter(({ payload }) => payload.startsWith('ffffffffffff'));
  const seen = (count: number) =>
    eventually(() => {
      expect(magic().length).toBeGreaterThanOrEqual(count);
      return magic();
    });

  test('what wakeonlan sends, byte for byte, to the broadcast address of the network', async () => {
    await driver('on', { repeat: 1 });
    const [ours] = await seen(1);
    await hosts.at(1, 'wakeonlan', ['-i', '10.77.0.255', macAddress]);
    const [, theirs] = await seen(2);
    expect(ours).toEqual({
      kind: 'udp',
      destination: everybody,
      to: '10.77.0.255:9',
      payload: expect.any(String),
    });
    expect(ours).toEqual(theirs);
    expect(ours?.payload).toHaveLength(2 * 102);
  });

  test.each([
    ['six bytes', 'ca:fe:ca:fe:ca:fe'],
    ['four bytes', '192.168.7.9'],
  ])('what etherwake sends with a SecureOn password of %s', async (_, secureOn) => {
    await driver('on', { repeat: 1, broadcast: '10.77.0.255', port: 7 }, { secureOn });
    const [ours] = await seen(1);
    await hosts.at(1, 'etherwake', ['-i', hosts.interfaceAt(1), '-b', '-p', secureOn, macAddress]);
    const [, theirs] = await seen(2);
    expect(ours).toMatchObject({ kind: 'udp', destination: everybody, to: '10.77.0.255:7' });
    expect(theirs).toMatchObject({ kind: '0842', destination: everybody });
    expect(ours?.payload).toBe(theirs?.payload);
  });

  test('from a named interface, also to everybody on its cable', async () => {
    await driver('on', { interface: hosts.interfaceAt(1), broadcast: '255.255.255.255', repeat: 2 });
    const frames = await seen(2);
    expect(frames.map(({ destination, to }) => ({ destination, to }))).toEqual([
      { destination: everybody, to: '255.255.255.255:9' },
      { destination: everybody, to: '255.255.255.255:9' },
    ]);
  });

  describe('a probe of a machine without a node', () => {
    const reading = async () =>
      JSON.parse(await driver('read', { probe: { port: 22 } }, { mgmtAddress: '10.77.0.2' }));

    test('nobody answers on the cable: off is inferred', async () => {
      await hosts.link(2, 'down');
      expect(await reading()).toEqual({ power: 'off', inferred: true });
    });

    test('its kernel refuses, so it runs: unknown', async () => {
      expect(await reading()).toEqual({ power: 'unknown' });
    });
  });
});
