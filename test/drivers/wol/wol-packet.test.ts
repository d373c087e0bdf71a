import { routesFor } from '../../../shared/drivers/wol/networks.ts';
import { magicPacket, parseSecureOn } from '../../../shared/drivers/wol/packet.ts';

test('the magic packet is FF six times, then the address sixteen times', () => {
  const packet = magicPacket('52:54:00:12:34:Ab');
  expect(packet.toString('hex')).toBe('ff'.repeat(6) + '5254001234ab'.repeat(16));
});

test('a SecureOn password stands at the end, six or four bytes of it', () => {
  const bytes = (text: string) => parseSecureOn(text)?.toString('hex');
  expect(bytes('01:02:03:0a:0B:ff')).toBe('0102030a0bff');
  expect(bytes('01:02:03:04')).toBe('01020304');
  expect(bytes('192.168.1.200')).toBe('c0a801c8');
  expect(magicPacket('52:54:00:12:34:56', Buffer.from([1, 2, 3, 4]))).toHaveLength(106);
});

test.each([
  '',
  '01:02',
  '01:02:03:04:05',
  '01:02:03:04:05:06:07',
  '1.2.3.256',
  '1.2.3',
  'zz:02:03:04',
  'password',
])('%p is no SecureOn password', (text) => {
  expect(parseSecureOn(text)).toBeUndefined();
});

describe('where packets go', () => {
  const ipv4 = (address: string, netmask: string, internal = false) => ({
    address,
    netmask,
    internal,
    family: 'IPv4' as const,
    mac: '',
    cidr: null,
  });
  const ours = {
    lo: [ipv4('127.0.0.1', '255.0.0.0', true)],
    eth0: [ipv4('192.168.1.10', '255.255.255.0')],
    eth1: [ipv4('10.20.30.40', '255.255.252.0')],
  };

  test('to the broadcast address of each of our networks, unless told otherwise', () => {
    expect(routesFor({}, ours)).toEqual([
      { from: '192.168.1.10', to: '192.168.1.255' },
      { from: '10.20.30.40', to: '10.20.31.255' },
    ]);
  });

  test('to the one that was given', () => {
    expect(routesFor({ broadcast: '10.9.9.255' }, ours)).toEqual([{ to: '10.9.9.255' }]);
  });

  test('from the interface that was named', () => {
    expect(routesFor({ interface: 'eth1' }, ours)).toEqual([{ from: '10.20.30.40', to: '10.20.31.255' }]);
    expect(routesFor({ interface: 'eth1', broadcast: '255.255.255.255' }, ours)).toEqual([
      { from: '10.20.30.40', to: '255.255.255.255' },
    ]);
  });

  test('nowhere, when there is no such interface', () => {
    expect(routesFor({ interface: 'eth7' }, ours)).toEqual([]);
  });
});
