import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findHierarchies, listPods, podUidOf } from '../../sensor/cgroups.ts';
import { trackPods } from '../../sensor/pods.ts';
import { podPaths, uidOf } from '../../tools/real-stack/sensor/tree.ts';
import { newFolder } from '../support/cleanup.ts';

const uid = '0f0f0f0f-1111-4222-8333-444444444444';
const static_ = '5beb8d4106e1587377628c7639d25585';
let root: string;

beforeEach(() => {
  root = newFolder();
});

const make = (...paths: string[]): void => {
  for (const path of paths) mkdirSync(join(root, path), { recursive: true });
};
const write = (path: string, text: string): void => {
  make(join(path, '..'));
  writeFileSync(join(root, path), text);
};

test.each([
  [`kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`, uid],
  [`kubelet-kubepods-pod${uid.replaceAll('-', '_')}.slice`, uid],
  [`pod${uid}`, uid],
  [`pod${static_}`, static_],
  [`kubepods-pod${static_}.slice`, static_],
  ['kubepods-burstable.slice', undefined],
  ['cri-containerd-0123.scope', undefined],
  ['podman-1234.scope', undefined],
  ['pod', undefined],
])('the pod of %s', (name, expected) => {
  expect(podUidOf(name)).toBe(expected);
});

test('finds pods of both drivers, of kind and of the kubelet itself, and nothing else', () => {
  make(
    join(podPaths.systemd(uidOf(1)), 'cri-containerd-0123.scope'),
    join(podPaths.cgroupfs(uidOf(2)), '0123'),
    podPaths.kind(uidOf(3)),
    `kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${static_}.slice`,
    `system.slice/pod${uid}`,
    'user.slice/user-1000.slice',
  );
  expect([...listPods(root)].sort()).toEqual(
    [
      [uidOf(1), podPaths.systemd(uidOf(1))],
      [uidOf(2), podPaths.cgroupfs(uidOf(2))],
      [uidOf(3), podPaths.kind(uidOf(3))],
      [static_, `kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${static_}.slice`],
    ].sort(),
  );
  expect(listPods(join(root, 'gone')).size).toBe(0);
});

test('version 2, hybrid and version 1 are told apart by what is mounted', () => {
  make('cpu,cpuacct', 'memory');
  expect(findHierarchies(root)).toEqual({
    version: 'v1',
    cpu: join(root, 'cpu,cpuacct'),
    cpuacct: join(root, 'cpu,cpuacct'),
    memory: join(root, 'memory'),
  });
  write('unified/cgroup.controllers', '');
  expect(findHierarchies(root)).toMatchObject({ version: 'hybrid', unified: join(root, 'unified') });
  write('cgroup.controllers', 'cpu memory\n');
  expect(findHierarchies(root)).toEqual({ version: 'v2', unified: root });
});

test('on version 1 pods are told apart by the cpu they use, and by their limits', () => {
  const path = podPaths.cgroupfs(uid);
  const count = (us: number, throttledUs: number): void => {
    write(`cpuacct/${path}/cpuacct.usage`, `${us * 1000}\n`);
    write(`cpu/${path}/c1/cpu.stat`, `nr_throttled 3\nthrottled_time ${throttledUs * 1000}\n`);
  };
  count(5_000, 0);
  make('memory');
  const pods = trackPods(findHierarchies(root), join(root, 'proc'));
  pods.sample(1000);
  pods.sample(2000);
  pods.suspect('cpu', 2000);
  count(305_000, 100_000);
  const whole = { counted: (ms: number) => ms * 1000 };
  expect(pods.attribute('cpu', 2300, whole)).toEqual({
    pods: [{ uid, share: 1, ownLimit: true }],
    unattributed: 0,
  });
  pods.close();
});
