import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findHierarchies } from '../../sensor/cgroups.ts';
import { readPinned } from '../../sensor/pinned.ts';
import { type Pods, trackPods } from '../../sensor/pods.ts';
import { podPaths, uidOf } from '../../tools/real-stack/sensor/tree.ts';
import { newFolder } from '../support/cleanup.ts';

/** The node's own interface, as the kernel numbers it. */
const uplink = 2;
let root: string;
let pods: Pods;

beforeEach(() => {
  root = newFolder();
  write('cgroup/cgroup.controllers', '');
  write('proc/1/net/dev', '');
  for (const name of ['runqueue', 'network', 'stalls']) write(`pins/${name}`, '');
});
afterEach(() => {
  pods?.close();
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
/** A pod with one container and one process, with or without a network of its own; returns the container's cgroup id. */
function addPod(index: number, network: 'own' | 'host'): number {
  const container = join('cgroup', podPaths.systemd(uidOf(index)), 'cri-containerd-0123.scope');
  write(join(container, 'cgroup.procs'), `${index + 100}\n`);
  const dev = join(root, `proc/${index + 100}/net/dev`);
  mkdirSync(dirname(dev), { recursive: true });
  if (network === 'own') writeFileSync(dev, '');
  // The same file: the same network.
  else symlinkSync(join(root, 'proc/1/net/dev'), dev);
  return statSync(join(root, container)).ino;
}
const count = (name: string, ...lines: object[]): void =>
  write(`pins/${name}`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const traffic = (cgroup: number, ifindex: number, txBytes: number) => ({
  cgroup,
  ifindex,
  rxBytes: 0,
  rxPackets: 0,
  txBytes,
  txPackets: 1,
});

function track(withPins = true): Pods {
  const hierarchies = findHierarchies(join(root, 'cgroup'));
  const pinned = readPinned(join(root, 'pins'), hierarchies, [uplink]);
  expect(pinned.problem).toBeUndefined();
  pods = trackPods(hierarchies, join(root, 'proc'), withPins ? pinned : undefined);
  pods.sample(0);
  return pods;
}

test('the network is used by the pod that sends, also without a network of its own; what it tells itself does not count', () => {
  const [web, agent] = [addPod(1, 'own'), addPod(2, 'host')];
  track();
  pods.suspect('network', 1000);
  count(
    'network',
    traffic(web, 7, 1_000),
    traffic(web, 1, 1_000_000),
    traffic(agent, uplink, 3_000),
    // To a pod on the same node: never on the wire.
    traffic(agent, 9, 1_000_000),
  );
  count('stalls', { cgroup: agent, retransmits: 5, reclaimUs: 0 });
  expect(pods.attribute('network', 1300)).toEqual({
    pods: [
      { uid: uidOf(2), share: 0.75, retransmits: 5 },
      { uid: uidOf(1), share: 0.25, retransmits: 0 },
    ],
    unattributed: 0,
  });
});

test('without eBPF a pod without a network of its own is not blamed for all of the node’s traffic', () => {
  addPod(1, 'own');
  addPod(2, 'host');
  track(false);
  pods.suspect('network', 1000);
  for (const pid of [101, 1]) write(`proc/${pid}/net/dev`, `  eth0: 5000 1 0 0 0 0 0 0 0 0\n`);
  expect(pods.attribute('network', 1300).pods).toEqual([{ uid: uidOf(1), share: 1 }]);
});

test('what a pod waited, and how long it looked for memory, counts from when it began to look pressed', () => {
  const web = addPod(1, 'own');
  const folder = join('cgroup', podPaths.systemd(uidOf(1)));
  // A million short waits, long ago.
  const before = [1_000_000, ...Array(23).fill(0)];
  count('runqueue', { cgroup: web, waits: before });
  count('stalls', { cgroup: web, retransmits: 0, reclaimUs: 9_000_000 });
  write(join(folder, 'cpu.stat'), 'usage_usec 0\n');
  write(join(folder, 'memory.pressure'), 'some total=0\n');
  track();
  pods.suspect('cpu', 1000);
  pods.suspect('memory', 1000);
  count('runqueue', { cgroup: web, waits: before.with(12, 20) });
  count('stalls', { cgroup: web, retransmits: 0, reclaimUs: 9_120_000 });
  write(join(folder, 'cpu.stat'), 'usage_usec 300000\n');
  write(join(folder, 'memory.pressure'), 'some total=200000\n');
  expect(pods.attribute('cpu', 1300).pods).toEqual([{ uid: uidOf(1), share: 1, waitMs: 8.192 }]);
  expect(pods.attribute('memory', 1300).pods).toEqual([{ uid: uidOf(1), share: 1, reclaimMs: 120 }]);
});

test('once it is unloaded nobody is named, and nothing fails', () => {
  addPod(1, 'own');
  track();
  rmSync(join(root, 'pins'), { recursive: true });
  pods.suspect('network', 1000);
  expect(pods.attribute('network', 1300)).toEqual({ pods: [], unattributed: 1 });
});
