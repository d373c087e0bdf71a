import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findHierarchies } from '../../../sensor/cgroups.ts';
import { idsOf, type PinnedLine, p95, readLines, readPinned } from '../../../sensor/pinned.ts';
import { connectTwoHosts } from '../../../tools/real-stack/netns.ts';
import { layCable } from '../../../tools/real-stack/sensor/sensor-cable.ts';
import {
  cgroupPrograms,
  hierarchies,
  makePod,
  type PodCgroup,
  stop,
} from '../../../tools/real-stack/sensor/sensor-pod.ts';
import { buildSensor, startSensor } from '../../../tools/real-stack/sensor/sensor-process.ts';
import { uidOf } from '../../../tools/real-stack/sensor/tree.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { closing, newFolder } from '../../support/cleanup.ts';

const run = promisify(execFile);
const sources = fileURLToPath(new URL('../../../sensor/bpf', import.meta.url));
const needed = [
  'clang',
  'llvm-strip',
  'bpftool',
  'make',
  'cc',
  'ip',
  'iperf3',
  'stress-ng',
  'setpriv',
  'mount',
];
const btf = existsSync('/sys/kernel/btf/vmlinux') ? [] : ['/sys/kernel/btf/vmlinux'];

const port = 9321;
/** Fewer than a cable's end takes before anybody looks at them: none is dropped, however busy the machine is. */
const packets = 500;

describeWith([...needed, ...btf, ...cgroupPrograms], 'eBPF: loaded once, read by nobody', () => {
  const folder = newFolder();
  let pins: string;
  let pods: PodCgroup[] = [];
  const unified = hierarchies.unified ?? '';
  const loader = (...args: string[]) => run(join(folder, 'bamel-bpf'), args);
  const load = () => loader('load', pins, unified);
  const links = async (): Promise<number> => {
    const { stdout } = await run('bpftool', ['-j', 'link']);
    return JSON.parse(stdout).length;
  };
  const ofPod = (pod: PodCgroup, name: Parameters<typeof readLines>[1]): PinnedLine[] => {
    const ids = idsOf(join(unified, pod.path));
    return readLines(pins, name).filter(({ cgroup }) => ids.includes(cgroup));
  };
  /** A script of a pod that is at one end of the cable. */
  const runAt = (one: PodCgroup, end: 1 | 2, script: string) =>
    one.run('ip', ['netns', 'exec', `bamel${process.pid}-${end}`, process.execPath, '-e', script]);
  const pod = (index: number, scheme: Parameters<typeof makePod>[1]): PodCgroup => {
    const made = makePod(uidOf(index), scheme);
    pods.push(made);
    return made;
  };

  beforeAll(async () => {
    await run('make', ['-C', sources, `OUT=${folder}`]);
    await run('mkdir', [join(folder, 'fs')]);
    await run('mount', ['-t', 'bpf', 'bpf', join(folder, 'fs')]);
    await run('chmod', ['755', folder]);
    pins = join(folder, 'fs/bamel');
  }, 120_000);
  afterAll(async () => {
    if (existsSync(join(folder, 'bamel-bpf'))) await loader('unload', pins);
    await run('umount', [join(folder, 'fs')]);
  });
  afterEach(async () => {
    for (const one of pods) await one.remove();
    pods = [];
  });

  test('loading twice is loading once, unloading leaves nothing', async () => {
    const before = await links();
    await load();
    const loaded = await links();
    expect(loaded).toBeGreaterThan(before);
    await load();
    await eventually(async () => expect(await links()).toBe(loaded));
    await loader('unload', pins);
    expect(existsSync(pins)).toBe(false);
    // The kernel lets go of them when nobody looks.
    await eventually(async () => expect(await links()).toBe(before));
    await loader('unload', pins);
  });

  test('what is no bpf file system is refused, and left as it is', async () => {
    await expect(loader('load', join(folder, 'elsewhere'), unified)).rejects.toMatchObject({
      stderr: expect.stringContaining('is not on a bpf file system: mount -t bpf'),
    });
    await expect(loader('unload', sources)).rejects.toMatchObject({ code: 1 });
    expect(readdirSync(sources)).toContain('loader.c');
  });

  test('without it the sensor says why, and goes on without', () => {
    const { problem, runQueueMs } = readPinned(join(folder, 'nowhere'), hierarchies);
    expect(problem).toMatch(/nowhere\/runqueue is not there: run the loader/);
    expect(runQueueMs()).toBeUndefined();
    expect(readPinned(pins, findHierarchies(folder)).problem).toMatch(/no cgroup v2 hierarchy/);
  });

  test('bytes and packets belong to the right pod, exactly, on both sides of a cable', async () => {
    await load();
    const hosts = closing(await connectTwoHosts());
    const [receiver, sender] = [pod(11, 'systemd'), pod(12, 'cgroupfs')];
    runAt(receiver, 1, `require('dgram').createSocket('udp4').bind(${port})`);
    const listening = `:${port.toString(16).toUpperCase()} `;
    await eventually(async () => expect(await hosts.at(1, 'cat', ['/proc/net/udp'])).toContain(listening));
    runAt(
      sender,
      2,
      `const socket = require('dgram').createSocket('udp4');
      for (let sent = 0; sent < ${packets}; sent += 1) socket.send(Buffer.alloc(1000), ${port}, '10.77.0.1');`,
    );
    // 20 bytes of IP and 8 of UDP with each; no packet goes back.
    const bytes = packets * 1028;
    const index = async (end: 1 | 2) =>
      Number(await hosts.at(end, 'cat', [`/sys/class/net/${hosts.interfaceAt(end)}/ifindex`]));
    const [far, near] = [await index(1), await index(2)];
    await eventually(() => {
      expect(ofPod(sender, 'network')).toMatchObject([
        { ifindex: near, txBytes: bytes, txPackets: packets, rxBytes: 0, rxPackets: 0 },
      ]);
      expect(ofPod(receiver, 'network')).toMatchObject([
        { ifindex: far, rxBytes: bytes, rxPackets: packets, txBytes: 0, txPackets: 0 },
      ]);
    });
  }, 90_000);

  test('what had to be sent again is counted for who sent it', async () => {
    await load();
    const hosts = closing(await connectTwoHosts());
    const [receiver, sender] = [pod(17, 'cgroupfs'), pod(18, 'systemd')];
    runAt(receiver, 1, `require('net').createServer((socket) => socket.resume()).listen(${port})`);
    runAt(
      sender,
      2,
      `const dial = () => {
        const socket = require('net').connect(${port}, '10.77.0.1');
        socket.on('error', () => setTimeout(dial, 100));
        socket.on('connect', () => setInterval(() => socket.write('x'.repeat(1000)), 5));
      };
      dial();`,
    );
    const sent = () => ofPod(sender, 'network').reduce((sum, { txPackets = 0 }) => sum + txPackets, 0);
    await eventually(() => expect(sent()).toBeGreaterThan(20));
    // Nothing arrives any more, and nobody says so.
    await hosts.link(1, 'down');
    await eventually(() =>
      expect(ofPod(sender, 'other')).toMatchObject([{ retransmits: expect.any(Number) }]),
    );
    expect(ofPod(sender, 'other')[0]?.retransmits).toBeGreaterThan(0);
    expect(ofPod(receiver, 'other')).toEqual([]);
  }, 90_000);

  test('waits for a cpu and time spent reclaiming are counted where they happen', async () => {
    await load();
    const [crowd, tight, idle] = [pod(13, 'systemd'), pod(14, 'cgroupfs'), pod(15, 'systemd')];
    idle.run('sleep', ['600']);
    crowd.run('stress-ng', ['-q', '--cpu', String(4 * navigator.hardwareConcurrency), '--timeout', '60']);
    tight.limit({ memoryBytes: 64 * 2 ** 20 });
    tight.run('stress-ng', ['-q', '--vm', '2', '--vm-bytes', '256M', '--timeout', '60']);
    await eventually(() => {
      const waits = p95(ofPod(crowd, 'waits').map(({ waits = [] }) => waits));
      expect(waits).toBeGreaterThan(2);
      expect(ofPod(tight, 'other').reduce((sum, { reclaimUs = 0 }) => sum + reclaimUs, 0)).toBeGreaterThan(0);
    }, 60_000);
    expect(ofPod(idle, 'other')).toEqual([]);
  }, 90_000);

  test('nobody reads it, without any capability: how long pods wait, and who of those on the node’s own network sends', async () => {
    await load();
    await using cleanup = new AsyncDisposableStack();
    const cable = await layCable();
    cleanup.defer(() => cable.close());
    const built = await buildSensor();
    cleanup.defer(() => built.remove());
    const [busy, quiet, sender] = [pod(16, 'systemd'), pod(19, 'systemd'), pod(20, 'cgroupfs')];
    quiet.run('sleep', ['600']);
    sender.run('sleep', ['600']);
    const sensor = await startSensor(built, [
      ...['--bpf', pins, '--interfaces', cable.outside, '--megabits', '50'],
    ]);
    cleanup.defer(() => sensor.close());
    const pressing = (category: string) =>
      sensor.told.flatMap(({ report }) => (report.category === category ? [report.pods] : []));
    expect(sensor.lines.find((line) => line.includes('sensing pressure'))).toContain('"ebpf":true');
    expect(await readFile(`/proc/${sensor.pid}/status`, 'utf8')).toMatch(/^CapEff:\t0{16}$/m);

    // Of no pod: it would have as much of the traffic.
    const receiver = spawn(...cable.inside('iperf3', '-s', '-1'), { stdio: 'ignore', detached: true });
    cleanup.defer(() => stop(receiver));
    const insist = 'for try in 1 2 3 4 5 6 7 8 9 10; do';
    sender.run('sh', ['-c', `${insist} iperf3 -c ${cable.pod} -b 100M -t 30 && exit; sleep 1; done`]);
    await eventually(
      () =>
        expect(pressing('network')[0]?.[0]).toMatchObject({
          uid: sender.uid,
          retransmits: expect.any(Number),
        }),
      60_000,
    );
    busy.run('stress-ng', ['-q', '--cpu', String(4 * navigator.hardwareConcurrency), '--timeout', '100']);
    await eventually(
      () =>
        expect(pressing('cpu').flat()).toContainEqual(
          expect.objectContaining({ uid: busy.uid, waitMs: expect.any(Number) }),
        ),
      60_000,
    );
  }, 150_000);
});
