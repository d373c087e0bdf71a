import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findHierarchies } from '../../../sensor/cgroups.ts';
import { senseNetwork } from '../../../sensor/network.ts';
import { SensorBands } from '../../../sensor/options.ts';
import { trackPods } from '../../../sensor/pods.ts';
import { createSensor, type Sensor } from '../../../sensor/sensor.ts';
import { nodeSources } from '../../../sensor/sources.ts';
import { PressureReport } from '../../../shared/schema/pressure.ts';

/** Where kubelets put pods, by driver: what there is on real machines. */
export const podPaths = {
  systemd: (uid: string) =>
    `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`,
  cgroupfs: (uid: string) => `kubepods/besteffort/pod${uid}`,
  kind: (uid: string) =>
    `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${uid.replaceAll('-', '_')}.slice`,
};

export const uidOf = (index: number): string => `0f0f0f0f-0000-4000-8000-${String(index).padStart(12, '0')}`;

const psi = (some: number, full = 0): string =>
  `some avg10=0.00 avg60=0.00 avg300=0.00 total=${some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${full}\n`;

/** A machine's /proc and /sys as files that a test writes, and the sensor on it, with a time of its own. */
export interface Tree {
  readonly root: string;
  readonly reports: readonly PressureReport[];
  readonly sensor: Sensor;
  write(path: string, text: string): void;
  /** Adds a pod's cgroup; returns its path, relative to the hierarchy. */
  addPod(uid: string, scheme?: keyof typeof podPaths, hierarchy?: string): string;
  removePod(uid: string): void;
  /** Time passes in steps of 100 ms; each adds what these rates say (shares of the time, or bytes per second). */
  pass(ms: number, rates?: Rates): void;
  close(): void;
}

interface Rates {
  readonly cpu?: number;
  readonly memory?: number;
  readonly io?: number;
  /** Of both cpus. */
  readonly busy?: number;
  readonly bytes?: number;
  readonly pods?: Readonly<Record<string, PodRates>>;
}

interface PodRates {
  /** Of one cpu. */
  readonly cpu?: number;
  readonly io?: number;
  readonly memory?: number;
  readonly throttled?: number;
  readonly memoryHits?: number;
}

const stepMs = 100;

export function plantTree(bands: unknown = {}, disk?: string): Tree {
  const root = mkdtempSync(join(tmpdir(), 'bamel-sensor-'));
  const open = new Map<string, number>();
  // Files stay open: one that is emptied and written anew is a flush to the disk on some file systems.
  const write = (path: string, text: string): void => {
    const file = join(root, path);
    let descriptor = open.get(file);
    if (descriptor === undefined) {
      mkdirSync(dirname(file), { recursive: true });
      descriptor = openSync(file, 'w+');
      open.set(file, descriptor);
    }
    ftruncateSync(descriptor, writeSync(descriptor, text, 0));
  };
  const node = { cpu: 0, memory: 0, io: 0, busy: 0, all: 0, bytes: 0 };
  const pods = new Map<
    string,
    { path: string; cpu: number; io: number; memory: number; throttled: number; hits: number }
  >();
  const flush = (): void => {
    for (const kind of ['cpu', 'memory', 'io'] as const) write(`proc/pressure/${kind}`, psi(node[kind]));
    write('proc/stat', `cpu  ${Math.round(node.busy)} 0 0 ${Math.round(node.all - node.busy)} 0 0 0 0 0 0\n`);
    write('sys/class/net/eth0/statistics/rx_bytes', `${Math.round(node.bytes)}\n`);
    write('sys/class/net/eth0/statistics/tx_bytes', '0\n');
    for (const pod of pods.values()) {
      const at = `sys/fs/cgroup/${pod.path}`;
      write(`${at}/memory.pressure`, psi(pod.memory));
      write(`${at}/io.pressure`, psi(pod.io));
      write(
        `${at}/cpu.stat`,
        `usage_usec ${Math.round(pod.cpu)}\nnr_throttled 1\nthrottled_usec ${Math.round(pod.throttled)}\n`,
      );
      write(`${at}/memory.events`, `low 0\nhigh 0\nmax ${pod.hits}\noom 0\n`);
    }
  };
  write('sys/fs/cgroup/cgroup.controllers', 'cpu io memory\n');
  mkdirSync(join(root, 'sys/class/net/eth0/device'), { recursive: true });
  write('sys/class/net/eth0/speed', '1000\n');
  flush();
  const sys = join(root, 'sys');
  const reports: PressureReport[] = [];
  const sensor = createSensor({
    node: 'n1',
    sources: nodeSources({
      proc: join(root, 'proc'),
      settings: SensorBands.parse(bands),
      network: senseNetwork(sys, {}),
      disk,
    }),
    pods: trackPods(findHierarchies(join(sys, 'fs/cgroup')), join(root, 'proc')),
    // Whatever it says must be something that the other end takes.
    deliver: (report) => reports.push(PressureReport.parse(report)),
    firstSequence: 1000,
  });
  let now = 0;
  sensor.tick(now);
  return {
    root,
    reports,
    sensor,
    write,
    addPod(uid, scheme = 'systemd') {
      const path = podPaths[scheme](uid);
      pods.set(uid, { path, cpu: 0, io: 0, memory: 0, throttled: 0, hits: 0 });
      flush();
      return path;
    },
    removePod(uid) {
      rmSync(join(sys, 'fs/cgroup', pods.get(uid)?.path ?? ''), { recursive: true });
      pods.delete(uid);
    },
    pass(ms, rates = {}) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        for (const kind of ['cpu', 'memory', 'io'] as const) node[kind] += (rates[kind] ?? 0) * stepMs * 1000;
        node.busy += (rates.busy ?? 0) * 2 * (stepMs / 10);
        node.all += 2 * (stepMs / 10);
        node.bytes += ((rates.bytes ?? 0) * stepMs) / 1000;
        for (const [uid, one] of Object.entries(rates.pods ?? {})) {
          const pod = pods.get(uid);
          if (!pod) continue;
          pod.cpu += (one.cpu ?? 0) * stepMs * 1000;
          pod.io += (one.io ?? 0) * stepMs * 1000;
          pod.memory += (one.memory ?? 0) * stepMs * 1000;
          pod.throttled += (one.throttled ?? 0) * stepMs * 1000;
          pod.hits += one.memoryHits ?? 0;
        }
        flush();
        now += stepMs;
        sensor.tick(now);
      }
    },
    close() {
      sensor.close();
      for (const descriptor of open.values()) closeSync(descriptor);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
