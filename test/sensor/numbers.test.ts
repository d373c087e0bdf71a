import { numberOf, parseCpuTimes, parseNetDev, parseStall } from '../../sensor/numbers.ts';

test('pressure stall information as kernels print it', () => {
  const text =
    'some avg10=12.11 avg60=3.53 avg300=7.00 total=9660893880\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=118887286\n';
  expect(parseStall(text)).toEqual({ some: 9_660_893_880, full: 118_887_286 });
  // Before 5.13 the cpu has no second line.
  expect(parseStall('some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n')).toEqual({ some: 7, full: 0 });
  expect(parseStall('')).toBeUndefined();
});

test('counters by name, not by a part of one', () => {
  const stat = 'usage_usec 500\nuser_usec 300\nnr_throttled 3\nthrottled_usec 250\n';
  expect(numberOf(stat, 'usage_usec')).toBe(500);
  expect(numberOf(stat, 'throttled_usec')).toBe(250);
  expect(numberOf(stat, 'usec')).toBeUndefined();
  expect(numberOf('low 0\nhigh 2\nmax 17\noom 1\n', 'max')).toBe(17);
});

test('cpu times: waiting for a disk is not being busy', () => {
  expect(parseCpuTimes('cpu  100 10 40 800 50 0 5 5 30 0\ncpu0 1 1 1 1\n')).toEqual({ all: 1010, busy: 160 });
  expect(parseCpuTimes('intr 1\n')).toBeUndefined();
});

test('bytes of all interfaces but loopback', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0
  eth0: 1500 10 0 0 0 0 0 0 2500 20 0 0 0 0 0 0
  net1:7 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0
`;
  expect(parseNetDev(text)).toBe(4010);
});
