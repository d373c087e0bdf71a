import { defaultPool, defaultSettings, type PoolSpec, type Settings } from '../../../shared/core/settings.ts';
import { minute } from './inventory.ts';
import type { Random } from './random.ts';
import { Gi } from './templates.ts';

type PoolLimits = Partial<PoolSpec['limits']> & { batchSize?: number };

/** Limits of every sort, small enough to be reached now and then. */
function poolLimits(random: Random, machines: number): PoolLimits {
  const some = Math.max(1, Math.round(machines * random.next() * 0.6));
  return random.pick<PoolLimits>([
    { maxNodes: some },
    { cpuCores: some * 8 },
    { memoryMiB: some * 16 * 1024 },
    { batchSize: some },
    { maxNodes: some, batchSize: Math.max(1, Math.round(some / 2)) },
  ]);
}

interface Given {
  readonly family: string;
  readonly limited: boolean;
  readonly machines: number;
}

export function poolOf(name: string, random: Random, { family, limited, machines }: Given): PoolSpec {
  const { batchSize = 0, ...limits } = limited && random.chance(0.7) ? poolLimits(random, machines) : {};
  const isMixed = family === 'mixed';
  return {
    ...defaultPool,
    name,
    priority: random.chance(0.2) ? random.int(1, 5) : 0,
    limits: {
      ...defaultPool.limits,
      ...limits,
      ...(family === 'headroom' && random.chance(0.5) && { minNodes: random.int(1, 3) }),
    },
    scaleUp: {
      batchSize,
      ...(isMixed && random.chance(0.15) && { stabilizationWindowMs: 5 * minute }),
    },
    template: {
      ...(isMixed && random.chance(0.3) && { labels: { special: 'yes' } }),
      ...(isMixed &&
        random.chance(0.2) && { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' as const }] }),
    },
    ...(isMixed &&
      random.chance(0.3) && { startupTaints: [{ key: 'dedicated', effect: 'NoExecute' as const }] }),
    ...(family === 'headroom' && {
      headroom: { cpu: random.int(1, 40) * 1000, memory: random.int(1, 40) * Gi },
    }),
  };
}

export function settingsOf(random: Random, limited: boolean, machines: number): Settings {
  const some = Math.max(1, Math.round(machines * random.next()));
  return {
    ...defaultSettings,
    scaleDownThreshold: 0.5,
    ...(limited &&
      random.chance(0.5) &&
      random.pick<Partial<Settings>>([
        { limits: { ...defaultSettings.limits, maxNodes: some + 1 } },
        { limits: { ...defaultSettings.limits, cpuCores: some * 10 } },
        { rateLimits: { perMinute: some, perRack: 0, perCircuit: 0 } },
        { rateLimits: { perMinute: 0, perRack: random.int(1, 6), perCircuit: 0 } },
        { rateLimits: { perMinute: 0, perRack: 0, perCircuit: some } },
      ])),
  };
}
