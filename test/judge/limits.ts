import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine, MachineSpec } from '../../shared/core/machine/machine.ts';
import type { Reason } from '../../shared/core/reasons/reason.ts';
import type { Ceilings } from '../../shared/core/settings.ts';

/** Something that is counted, and how much of it is allowed. */
interface Limit {
  /** As a decision names it. */
  readonly reason: Reason;
  readonly most: number;
  used: number;
  /** What powering on a machine adds. */
  amount(spec: MachineSpec): number;
}

export interface Limits {
  readonly all: readonly Limit[];
  take(spec: MachineSpec): void;
  /** Every limit that keeps the machine off. */
  refusals(spec: MachineSpec): readonly Limit[];
}

const minuteMs = 60_000;
const MiB = 2 ** 20;

/** What is on, on its way or leaving counts against ceilings. */
export function createLimits(snapshot: Snapshot, now: number): Limits {
  const { machines, pools, settings, cluster } = snapshot;
  const isOn = (machine: Machine): boolean => capacityOf(machine) !== 'none';
  const on = machines.filter(isOn);
  const ours = new Set(on.flatMap(({ status }) => status.kubernetesNode ?? []));
  const strangers = cluster.nodes.filter(({ name }) => !ours.has(name));
  const all: Limit[] = [];
  const add = (reason: Reason, most: number, used: number, amount: (spec: MachineSpec) => number): void => {
    if (most > 0) all.push({ reason, most, used, amount });
  };
  const ceilings = (
    of: { readonly pool?: string },
    { maxNodes, cpuCores, memoryMiB }: Ceilings,
    resources: readonly Readonly<Record<string, number>>[],
    counts: (spec: MachineSpec) => boolean,
  ): void => {
    const sum = (name: string): number => resources.reduce((total, one) => total + (one[name] ?? 0), 0);
    const amount = (name: string) => (spec: MachineSpec) => (counts(spec) ? (spec.resources[name] ?? 0) : 0);
    const at = (limit: 'maxNodes' | 'cpuCores' | 'memoryMiB', most: number): Reason => ({
      code: 'at-limit',
      ...of,
      limit,
      most,
    });
    add(at('maxNodes', maxNodes), maxNodes, resources.length, (spec) => (counts(spec) ? 1 : 0));
    add(at('cpuCores', cpuCores), cpuCores * 1000, sum('cpu'), amount('cpu'));
    add(at('memoryMiB', memoryMiB), memoryMiB * MiB, sum('memory'), amount('memory'));
  };
  for (const { name, limits, scaleUp } of pools) {
    const members = on.filter(({ spec }) => spec.pool === name);
    const counts = (spec: MachineSpec): boolean => spec.pool === name;
    ceilings(
      { pool: name },
      limits,
      members.map(({ spec }) => spec.resources),
      counts,
    );
    const coming = members.filter((machine) => capacityOf(machine) === 'coming').length;
    const { batchSize } = scaleUp;
    add({ code: 'batch-full', pool: name, most: batchSize }, batchSize, coming, (spec) =>
      counts(spec) ? 1 : 0,
    );
  }
  ceilings(
    {},
    settings.limits,
    [...on.map(({ spec }) => spec.resources), ...strangers.map(({ allocatable }) => allocatable)],
    () => true,
  );
  const recent = machines.filter((machine) => toldOnAt(machine) > now - minuteMs).map(({ spec }) => spec);
  const rate = (where: string, most: number, counts: (spec: MachineSpec) => boolean): void =>
    add({ code: 'rate-limited', where, most }, most, recent.filter(counts).length, (spec) =>
      counts(spec) ? 1 : 0,
    );
  const { perMinute, perRack, perCircuit } = settings.rateLimits;
  rate('the cluster', perMinute, () => true);
  for (const rack of new Set(machines.flatMap(({ spec }) => spec.rack ?? [])))
    rate(`rack ${rack}`, perRack, (spec) => spec.rack === rack);
  for (const circuit of new Set(machines.flatMap(({ spec }) => spec.powerCircuit ?? [])))
    rate(`circuit ${circuit}`, perCircuit, (spec) => spec.powerCircuit === circuit);

  return {
    all,
    take: (spec) => {
      for (const limit of all) limit.used += limit.amount(spec);
    },
    refusals: (spec) =>
      all.filter((limit) => {
        const amount = limit.amount(spec);
        return amount > 0 && limit.used + amount > limit.most;
      }),
  };
}

/** When the machine was last told to power on. */
function toldOnAt({ status }: Machine): number {
  return Math.max(
    status.lastPowerAction === 'on' ? (status.powerActionTime ?? 0) : 0,
    status.state === 'powering-on' ? status.stateSince : 0,
    status.bootTime ?? 0,
  );
}
