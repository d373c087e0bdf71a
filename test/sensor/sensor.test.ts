import { plantTree, type Tree, uidOf } from '../../tools/real-stack/sensor/tree.ts';

let tree: Tree;
afterEach(() => tree.close());

const told = () =>
  tree.reports.map(
    ({ category, from, to, sign, signal }) => `${category} ${from} → ${to} ${sign} by ${signal}`,
  );

test('rises with its category and the pod on top, goes on, and falls', () => {
  tree = plantTree();
  for (const index of [1, 2, 3]) tree.addPod(uidOf(index), index === 3 ? 'cgroupfs' : 'systemd');
  tree.pass(3000, { cpu: 0.05, busy: 0.3 });
  expect(tree.reports).toEqual([]);
  const load = { cpu: 0.8, busy: 1, pods: { [uidOf(2)]: { cpu: 1.5 }, [uidOf(3)]: { cpu: 0.3 } } };
  tree.pass(300, load);
  expect(tree.reports).toEqual([
    {
      node: 'n1',
      category: 'cpu',
      from: 'calm',
      to: 'pressed',
      sign: 'rising',
      level: 0.933,
      share: 0.8,
      full: 0,
      baseline: expect.any(Number),
      ratePerSecond: 2.4,
      windowMs: 250,
      signal: 'psi',
      pods: [
        { uid: uidOf(2), share: 0.75 },
        { uid: uidOf(3), share: 0.15 },
      ],
      unattributed: 0.1,
      sequence: 1001,
    },
  ]);
  tree.pass(9800, load);
  expect(tree.reports).toHaveLength(1);
  tree.pass(300, load);
  expect(told().slice(1)).toEqual(['cpu pressed → pressed rising by psi']);
  tree.pass(4000, { busy: 0.1 });
  expect(told().slice(2)).toEqual([expect.stringMatching(/^cpu pressed → calm falling by/)]);
  expect(tree.reports.map(({ sequence }) => sequence)).toEqual([1001, 1002, 1003]);
  expect(tree.reports.at(-1)?.level).toBeLessThan(0.7);
});

test.each([
  ['memory', { memory: 0.2, pods: { [uidOf(1)]: { memory: 0.2 } } }],
  ['storage', { io: 0.5, pods: { [uidOf(1)]: { io: 0.5 } } }],
])('%s', (category, rates) => {
  tree = plantTree();
  tree.addPod(uidOf(1));
  tree.addPod(uidOf(2));
  tree.pass(2000);
  tree.pass(400, rates);
  expect(tree.reports).toMatchObject([
    { category, sign: 'rising', pods: [{ uid: uidOf(1), share: 1 }], unattributed: 0 },
  ]);
});

test('the network by the speed of the link; what no pod sent is nobody’s', () => {
  tree = plantTree();
  tree.pass(2000);
  // 85 % of a gigabit a second.
  tree.pass(700, { bytes: 0.85 * 125e6 });
  expect(tree.reports).toMatchObject([
    { category: 'network', signal: 'link', pods: [], unattributed: 1, share: 0.85 },
  ]);
});

test('a link that is full in bursts is full, and one burst is none', () => {
  tree = plantTree();
  tree.pass(2000);
  tree.pass(200, { bytes: 1.2 * 125e6 });
  tree.pass(2000);
  expect(told()).toEqual([]);
  for (let turn = 0; turn < 2; turn += 1) {
    tree.pass(200, { bytes: 1.2 * 125e6 });
    tree.pass(100, { bytes: 0.5 * 125e6 });
  }
  expect(told()).toEqual(['network calm → pressed rising by link']);
});

test('the file system that pods write to', () => {
  // A file system is as full as it is: the band is where the test wants it.
  tree = plantTree({ bands: { 'ephemeral-storage': { pressed: [{ above: 1e-9, for: '1s' }] } } }, '/');
  tree.pass(20_000);
  expect(told()).toEqual(['ephemeral-storage calm → pressed rising by filesystem', expect.any(String)]);
});

test('a pod that its own limit holds is told apart', () => {
  tree = plantTree();
  for (const index of [1, 2, 3]) tree.addPod(uidOf(index));
  tree.pass(2000);
  tree.pass(400, {
    cpu: 0.9,
    busy: 0.5,
    pods: { [uidOf(1)]: { cpu: 0.5, throttled: 0.5 }, [uidOf(2)]: { cpu: 0.5 } },
  });
  tree.pass(400, { memory: 0.5, pods: { [uidOf(3)]: { memory: 0.5, memoryHits: 10 } } });
  expect(tree.reports.map(({ pods }) => pods)).toEqual([
    [
      { uid: uidOf(1), share: 0.5, ownLimit: true },
      { uid: uidOf(2), share: 0.5 },
    ],
    [{ uid: uidOf(3), share: 1, ownLimit: true }],
  ]);
});

test('who presses now is named while it goes on, not who began it', () => {
  tree = plantTree();
  for (const index of [1, 2]) tree.addPod(uidOf(index));
  tree.pass(2000);
  const load = (index: number) => ({ cpu: 0.8, busy: 1, pods: { [uidOf(index)]: { cpu: 2 } } });
  tree.pass(20_000, load(1));
  tree.pass(21_000, load(2));
  expect(tree.reports[0]?.pods).toEqual([{ uid: uidOf(1), share: 1 }]);
  expect(tree.reports.at(-1)).toMatchObject({ from: 'pressed', pods: [{ uid: uidOf(2), share: 1 }] });
});

test('what a limit did long ago is not held against a pod', () => {
  tree = plantTree();
  tree.addPod(uidOf(1));
  tree.pass(2000, { pods: { [uidOf(1)]: { throttled: 0.9, memoryHits: 10 } } });
  tree.pass(8000);
  tree.pass(400, { cpu: 0.9, busy: 1, pods: { [uidOf(1)]: { cpu: 2 } } });
  expect(tree.reports).toMatchObject([{ pods: [{ uid: uidOf(1), share: 1 }] }]);
  expect(tree.reports[0]?.pods[0]).not.toHaveProperty('ownLimit');
});

test('pods come and go while it looks', () => {
  tree = plantTree();
  tree.addPod(uidOf(1));
  tree.pass(2000);
  tree.removePod(uidOf(1));
  tree.addPod(uidOf(2), 'kind');
  tree.pass(100, { cpu: 0.9, busy: 1, pods: { [uidOf(2)]: { cpu: 1.8 } } });
  tree.addPod(uidOf(3));
  tree.pass(300, { cpu: 0.9, busy: 1, pods: { [uidOf(3)]: { cpu: 1.8 } } });
  expect(tree.reports[0]?.pods.map(({ uid }) => uid)).toEqual(expect.arrayContaining([uidOf(3)]));
  expect(tree.reports[0]?.pods.map(({ uid }) => uid)).not.toContain(uidOf(1));
});

test('half of the time is enough while no cpu is idle, and not while one is', () => {
  tree = plantTree();
  tree.pass(2000);
  tree.pass(700, { cpu: 0.5, busy: 1 });
  expect(told()).toEqual(['cpu calm → pressed rising by crowded']);
  tree.close();
  tree = plantTree();
  tree.pass(2000);
  tree.pass(1900, { cpu: 0.5, busy: 0.8 });
  expect(told()).toEqual([]);
});

test('a slow climb is told before anybody waits', () => {
  tree = plantTree();
  for (let second = 0; second < 30; second += 1) tree.pass(1000, { busy: 0.55 + second * 0.012, cpu: 0.03 });
  expect(told()).toEqual(['cpu calm → pressed rising by utilization']);
});

test('nothing in ten minutes of idling, nor of 40 % in use with peaks', () => {
  tree = plantTree();
  tree.addPod(uidOf(1));
  for (let minute = 0; minute < 5; minute += 1) tree.pass(2000, { cpu: 0.01, busy: 0.02 });
  for (let turn = 0; turn < 20; turn += 1) {
    tree.pass(800, { cpu: 0.2, io: 0.05, busy: 0.4 });
    tree.pass(200, { cpu: 0.7, io: 0.3, busy: 0.6 });
  }
  expect(tree.reports).toEqual([]);
});

test('a kernel without pressure stall information is no reason to fail', () => {
  tree = plantTree();
  for (const kind of ['cpu', 'memory', 'io']) tree.write(`proc/pressure/${kind}`, '');
  expect(() => tree.sensor.tick(10_000)).not.toThrow();
});
