import { capacityOf } from '../lifecycle.ts';
import type { Machine, MachineSpec } from '../machine.ts';
import type { Ceilings } from '../settings.ts';
import type { Situation } from '../situation.ts';
import { poweredOnAt } from './times.ts';

/** How much more may be powered on in this decision. */
export interface Room {
  /** Why the machine may not be powered on now, or nothing. */
  refusal(spec: MachineSpec): string | undefined;
  take(spec: MachineSpec): void;
  giveBack(spec: MachineSpec): void;
}

const minuteMs = 60_000;
const MiB = 2 ** 20;

/** Something counted against something allowed. */
interface Meter {
  /** 0: the machine does not count here. */
  readonly amount: (spec: MachineSpec) => number;
  readonly most: number;
  used: number;
  readonly text: string;
}

/** What is on or on its way counts, and so does what is leaving: it is still on. */
export function createRoom(situation: Situation): Room {
  const meters = [...poolMeters(situation), ...clusterMeters(situation), ...rateMeters(situation)];
  // Asked again and again for the same machines: those that count for a machine are looked up once.
  const known = new Map<MachineSpec, readonly Meter[]>();
  const ofSpec = (spec: MachineSpec): readonly Meter[] => {
    let found = known.get(spec);
    if (!found) {
      found = meters.filter(({ pool, amount }) => (pool ?? spec.pool) === spec.pool && amount(spec) > 0);
      known.set(spec, found);
    }
    return found;
  };
  const change = (spec: MachineSpec, sign: 1 | -1): void => {
    for (const meter of ofSpec(spec)) meter.used += sign * meter.amount(spec);
  };
  return {
    refusal: (spec) => {
      for (const meter of ofSpec(spec)) if (meter.used + meter.amount(spec) > meter.most) return meter.text;
      return undefined;
    },
    take: (spec) => change(spec, 1),
    giveBack: (spec) => change(spec, -1),
  };
}

type Scoped = Meter & { readonly pool?: string };

function ceilings(limits: Ceilings, who: string, on: readonly MachineSpec[], pool?: string): Scoped[] {
  const rows: { name: string; most: number; per: number; amount: (spec: MachineSpec) => number }[] = [
    { name: 'maxNodes', most: limits.maxNodes, per: 1, amount: () => 1 },
    { name: 'cpuCores', most: limits.cpuCores, per: 1000, amount: (spec) => spec.resources.cpu ?? 0 },
    { name: 'memoryMiB', most: limits.memoryMiB, per: MiB, amount: (spec) => spec.resources.memory ?? 0 },
  ];
  return rows
    .filter(({ most }) => most > 0)
    .map(({ name, most, per, amount }) => ({
      amount,
      most: most * per,
      used: on.reduce((sum, spec) => sum + amount(spec), 0),
      text: `${who} is at ${name} ${most}`,
      ...(pool !== undefined && { pool }),
    }));
}

const isOn = (machine: Machine): boolean => capacityOf(machine) !== 'none';

function poolMeters({ pools, members }: Situation): Scoped[] {
  return pools.flatMap((pool) => {
    const all = members.get(pool.name) ?? [];
    const rows = ceilings(
      pool.limits,
      `pool ${pool.name}`,
      all.filter(isOn).map(({ spec }) => spec),
      pool.name,
    );
    if (pool.scaleUp.batchSize > 0)
      rows.push({
        amount: () => 1,
        most: pool.scaleUp.batchSize,
        used: all.filter((machine) => capacityOf(machine) === 'coming').length,
        text: `pool ${pool.name} has ${pool.scaleUp.batchSize} on their way (batchSize)`,
        pool: pool.name,
      });
    return rows;
  });
}

/** Nodes that are no machine of ours use up the cluster's ceilings as well. */
function clusterMeters({ settings, machines, nodes, machineOfNode }: Situation): Scoped[] {
  const strangers = [...nodes.values()]
    .filter(({ name }) => !machineOfNode.has(name))
    .map(({ name, allocatable }) => ({ name, pool: '', powerInterface: '', resources: allocatable }));
  const on = machines.filter(isOn).map(({ spec }) => spec);
  return ceilings(settings.limits, 'the cluster', [...on, ...strangers]);
}

/** Power-ons of the last minute: in all, and for every rack and circuit that machines name. */
function rateMeters({ settings, machines, now }: Situation): Scoped[] {
  const recent = machines.filter((machine) => poweredOnAt(machine) > now - minuteMs).map(({ spec }) => spec);
  const { perMinute, perRack, perCircuit } = settings.rateLimits;
  const meter = (most: number, text: string, counts: (spec: MachineSpec) => boolean): Scoped => {
    const amount = (spec: MachineSpec): number => (counts(spec) ? 1 : 0);
    return { amount, most, used: recent.filter(counts).length, text };
  };
  const per = (field: 'rack' | 'powerCircuit', most: number, name: string): Scoped[] => {
    if (most === 0) return [];
    const values = new Set(machines.flatMap(({ spec }) => spec[field] ?? []));
    return [...values].map((value) =>
      meter(most, `${name} ${value} may have ${most} power-ons per minute`, (spec) => spec[field] === value),
    );
  };
  return [
    ...(perMinute > 0
      ? [meter(perMinute, `there may be ${perMinute} power-ons per minute`, () => true)]
      : []),
    ...per('rack', perRack, 'rack'),
    ...per('powerCircuit', perCircuit, 'circuit'),
  ];
}
