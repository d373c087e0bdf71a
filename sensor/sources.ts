import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import { crowdedSource } from './crowded.ts';
import { rampRules, type SensorBands } from './default-bands.ts';
import { createMeter } from './meter.ts';
import type { Network } from './network.ts';
import { parseCpuTimes, parseStall } from './numbers.ts';
import { openFile } from './open-file.ts';
import { createRamp } from './ramp.ts';
import type { Source } from './sensor.ts';
import { createSignal } from './signal.ts';

const fastMs = 100;
const slowMs = 1_000;
const rareMs = 5_000;

/** How many ticks of /proc/stat there are in a second, on every machine that Linux runs on. */
const ticksPerSecond = 100;

export interface SourcesOptions {
  readonly proc: string;
  readonly settings: SensorBands;
  readonly network: Network;
  /** A folder on the file system that pods write to. */
  readonly disk?: string | undefined;
}

/** Everything that is sensed of the node. */
export function nodeSources({ proc, settings, network, disk }: SourcesOptions): Source[] {
  const psi = (category: PressureCategory, file: string): StallSource =>
    stallSource(category, join(proc, 'pressure', file), settings);
  const cpu = psi('cpu', 'cpu');
  return [
    cpuSource(proc, cpu),
    psi('memory', 'memory'),
    psi('storage', 'io'),
    // Read after it, in the same tick: reading pressure is most of what there is to do.
    crowdedSource(proc, settings, cpu.waited),
    rampSource(proc, settings),
    ...(network.problem === undefined ? [linkSource(network, settings)] : []),
    ...(disk === undefined ? [] : [diskSource(disk, settings)]),
  ];
}

interface StallSource extends Source {
  /** Microseconds that tasks waited, at the last read. */
  waited(): number | undefined;
}

function stallSource(category: PressureCategory, path: string, { bands, clear }: SensorBands): StallSource {
  const file = openFile(path);
  let last: { some: number; full: number } | undefined;
  const meter = createMeter(() => last?.some ?? 0);
  return {
    signal: createSignal(category, 'psi', bands[category], clear),
    everyMs: fastMs,
    read(elapsedMs) {
      const before = last;
      last = parseStall(file.read() ?? '');
      meter.pass(elapsedMs);
      if (!before || !last) return undefined;
      const us = elapsedMs * 1000;
      return { share: (last.some - before.some) / us, full: (last.full - before.full) / us };
    },
    waited: () => last?.some,
    whole: meter,
    close: () => file.close(),
  };
}

/** Pods are counted by the cpu they use; so is the node, for the share that none of them accounts for. */
function cpuSource(proc: string, source: Source): Source {
  const stat = openFile(join(proc, 'stat'));
  const meter = createMeter(() => ((parseCpuTimes(stat.read() ?? '')?.busy ?? 0) / ticksPerSecond) * 1e6);
  return {
    ...source,
    read(elapsedMs) {
      meter.pass(elapsedMs);
      return source.read(elapsedMs);
    },
    whole: meter,
    close() {
      source.close();
      stat.close();
    },
  };
}

function rampSource(proc: string, { clear }: SensorBands): Source {
  const stat = openFile(join(proc, 'stat'));
  const ramp = createRamp();
  let last: { busy: number; all: number } | undefined;
  let at = 0;
  return {
    signal: createSignal('cpu', 'utilization', rampRules, clear),
    everyMs: slowMs,
    read(elapsedMs) {
      at += elapsedMs;
      const before = last;
      last = parseCpuTimes(stat.read() ?? '');
      if (!before || !last || last.all === before.all) return undefined;
      return { share: ramp.take((last.busy - before.busy) / (last.all - before.all), at) };
    },
    close: () => stat.close(),
  };
}

function linkSource(network: Network, { bands, clear }: SensorBands): Source {
  let bytes = 0;
  const meter = createMeter(() => bytes);
  return {
    signal: createSignal('network', 'link', bands.network, clear),
    everyMs: fastMs,
    read(elapsedMs) {
      const sample = network.sample(Math.max(1, elapsedMs) / 1000);
      bytes = sample.bytes;
      meter.pass(elapsedMs);
      return sample;
    },
    whole: meter,
    close: () => network.close(),
  };
}

function diskSource(folder: string, { bands, clear }: SensorBands): Source {
  return {
    signal: createSignal('ephemeral-storage', 'filesystem', bands['ephemeral-storage'], clear),
    everyMs: rareMs,
    read() {
      const { blocks, bavail } = statfsSync(folder);
      return blocks === 0 ? undefined : { share: 1 - bavail / blocks };
    },
    close: () => undefined,
  };
}
