import type { Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine, MachineSpec } from '../machine/machine.ts';
import type { Ceiling } from '../reasons/limits.ts';
import type { Reason } from '../reasons/reason.ts';
import { isHeld, offersById, rateOf, rounding } from '../remote/slice-rules.ts';
import type { Ceilings } from '../settings.ts';
import { providerLimit } from './provider-state.ts';
import { poweredOnAt } from './times.ts';

/** How much more may be powered on in this decision. */
export interface Room {
  /** Why the machine may not be powered on now, or nothing. */
  refusal(spec: MachineSpec): Reason | undefined;
  take(spec: MachineSpec): void;
  giveBack(spec: MachineSpec): void;
  /** How much more of a resource, or of `cost`, a machine like this may have. */
  left(spec: MachineSpec, what: string): number;
}

/** What an hour costs, beside the names of resources. */
export const cost = 'cost';

const minuteMs = 60_000;
const MiB = 2 ** 20;

type Amount = (spec: MachineSpec) => number;

/** Something counted against something allowed. */
interface Meter {
  /** Only machines of this pool, or slices of this offer, count. */
  readonly pool?: string | undefined;
  readonly offer?: string | undefined;
  /** The resource that is measured, or `cost`. */
  readonly what?: string | undefined;
  /** 0: the machine does not count here. */
  readonly amount: Amount;
  readonly most: number;
  used: number;
  readonly why: Reason;
}

/** What is on or on its way counts, and so does what is leaving: it is still on. */
export function createRoom(situation: Situation): Room {
  const there = new Set(situation.machines.filter(isOn).map(({ spec }) => spec.name));
  // One that is on and grows is no further machine.
  const one: Amount = ({ name }) => (there.has(name) ? 0 : 1);
  const meters = [
    // First: a limit that is reached because of machines that failed is not the reason to show.
    ...providerMeters(situation),
    ...poolMeters(situation, one),
    ...clusterMeters(situation, one),
    ...rateMeters(situation, one),
    ...offerMeters(situation),
  ];
  const applies = ({ pool, offer }: Meter, spec: MachineSpec): boolean =>
    (pool ?? spec.pool) === spec.pool && (offer ?? spec.offer) === spec.offer;
  // Asked again and again for the same machines: those that count for a machine are looked up once.
  const known = new Map<MachineSpec, readonly Meter[]>();
  const ofSpec = (spec: MachineSpec): readonly Meter[] => {
    let found = known.get(spec);
    if (!found) {
      found = meters.filter((meter) => applies(meter, spec) && meter.amount(spec) > 0);
      known.set(spec, found);
    }
    return found;
  };
  const change = (spec: MachineSpec, sign: 1 | -1): void => {
    for (const meter of ofSpec(spec)) meter.used += sign * meter.amount(spec);
  };
  return {
    refusal: (spec) => {
      for (const meter of ofSpec(spec))
        if (meter.used + meter.amount(spec) > meter.most + (meter.what === cost ? rounding : 0))
          return meter.why;
      return undefined;
    },
    take: (spec) => change(spec, 1),
    giveBack: (spec) => change(spec, -1),
    left: (spec, what) =>
      meters.reduce(
        (least, meter) =>
          meter.what === what && applies(meter, spec) ? Math.min(least, meter.most - meter.used) : least,
        Number.POSITIVE_INFINITY,
      ),
  };
}

interface On {
  readonly specs: readonly MachineSpec[];
  /** What all of it costs in an hour. */
  readonly cost: number;
  readonly pool?: string | undefined;
}

const of =
  (name: string): Amount =>
  ({ resources }) =>
    resources[name] ?? 0;

const sum = (specs: readonly MachineSpec[], amount: Amount): number =>
  specs.reduce((total, spec) => total + amount(spec), 0);

function ceilings(limits: Ceilings, one: Amount, { specs, cost: costs, pool }: On): Meter[] {
  const { maxNodes, cpuCores, memoryMiB, hourlyCost = 0 } = limits;
  const at = (limit: Ceiling['limit'], most: number): Reason => ({
    code: 'at-limit',
    ...(pool !== undefined && { pool }),
    limit,
    most,
  });
  const rows: Meter[] = [
    { amount: one, most: maxNodes, used: specs.length, why: at('maxNodes', maxNodes) },
    {
      what: 'cpu',
      amount: of('cpu'),
      most: cpuCores * 1000,
      used: sum(specs, of('cpu')),
      why: at('cpuCores', cpuCores),
    },
    {
      what: 'memory',
      amount: of('memory'),
      most: memoryMiB * MiB,
      used: sum(specs, of('memory')),
      why: at('memoryMiB', memoryMiB),
    },
    {
      what: cost,
      amount: ({ pricing }) => pricing?.hourlyRate ?? 0,
      most: hourlyCost,
      used: costs,
      why: at('hourlyCost', hourlyCost),
    },
  ];
  return rows.filter(({ most }) => most > 0).map((row) => ({ ...row, pool }));
}

/** A machine made on demand counts until its record is gone: a failed one may exist, and its successor fails too. */
const isOn = (machine: Machine): boolean => capacityOf(machine) !== 'none' || machine.spec.made === true;

/** What machines cost that are on, or may be. */
function costOf(machines: readonly Machine[], situation: Situation): number {
  const offers = offersById(situation);
  return machines.reduce((sum, machine) => sum + (isHeld(machine) ? rateOf(machine, offers) : 0), 0);
}

function poolMeters(situation: Situation, one: Amount): Meter[] {
  const { pools, members } = situation;
  return pools.flatMap((pool) => {
    const all = members.get(pool.name) ?? [];
    const rows = ceilings(pool.limits, one, {
      specs: all.filter(isOn).map(({ spec }) => spec),
      cost: costOf(all, situation),
      pool: pool.name,
    });
    if (pool.scaleUp.batchSize > 0)
      rows.push({
        amount: one,
        most: pool.scaleUp.batchSize,
        used: all.filter((machine) => capacityOf(machine) === 'coming').length,
        why: { code: 'batch-full', pool: pool.name, most: pool.scaleUp.batchSize },
        pool: pool.name,
      });
    return rows;
  });
}

/** Nodes that are no machine of ours use up the cluster's ceilings as well. */
function clusterMeters(situation: Situation, one: Amount): Meter[] {
  const { settings, machines, nodes, machineOfNode } = situation;
  const strangers = [...nodes.values()]
    .filter(({ name }) => !machineOfNode.has(name))
    .map(({ name, allocatable }) => ({ name, pool: '', powerInterface: '', resources: allocatable }));
  const on = machines.filter(isOn).map(({ spec }) => spec);
  return ceilings(settings.limits, one, {
    specs: [...on, ...strangers],
    cost: costOf(machines, situation),
  });
}

/** No more is taken of an offer than it has. */
function offerMeters({ offers = [], machines }: Situation): Meter[] {
  return offers.flatMap(({ id, resources }) => {
    const held = machines
      .filter((machine) => machine.spec.offer === id && isHeld(machine))
      .map(({ spec }) => spec);
    return Object.entries(resources).map(([name, most]) => ({
      offer: id,
      what: name,
      amount: of(name),
      most,
      used: sum(held, of(name)),
      why: { code: 'offer-used-up', offer: id, resource: name, most },
    }));
  });
}

/** A provider that was not checked, or that refuses, makes no machines; one that refused makes one at a time. */
function providerMeters({ providers = [], members, now }: Situation): Meter[] {
  const isMade = ({ made, offer }: MachineSpec): boolean => made === true && offer === undefined;
  return providers.flatMap((provider) => {
    const limit = providerLimit(provider, now);
    if (!limit) return [];
    const coming = (members.get(provider.pool) ?? []).filter(
      (machine) => isMade(machine.spec) && capacityOf(machine) === 'coming',
    );
    const amount: Amount = (spec) => (isMade(spec) ? 1 : 0);
    return [{ pool: provider.pool, amount, used: coming.length, ...limit }];
  });
}

/** Power-ons of the last minute: in all, and for every rack and circuit that machines name. */
function rateMeters({ settings, machines, now }: Situation, one: Amount): Meter[] {
  const recent = machines.filter((machine) => poweredOnAt(machine) > now - minuteMs).map(({ spec }) => spec);
  const { perMinute, perRack, perCircuit } = settings.rateLimits;
  const meter = (most: number, where: string, counts: (spec: MachineSpec) => boolean): Meter => {
    const amount: Amount = (spec) => (counts(spec) ? one(spec) : 0);
    return {
      amount,
      most,
      used: recent.filter(counts).length,
      why: { code: 'rate-limited', where, most },
    };
  };
  const per = (field: 'rack' | 'powerCircuit', most: number, name: string): Meter[] => {
    if (most === 0) return [];
    const values = new Set(machines.flatMap(({ spec }) => spec[field] ?? []));
    return [...values].map((value) => meter(most, `${name} ${value}`, (spec) => spec[field] === value));
  };
  return [
    ...(perMinute > 0 ? [meter(perMinute, 'the cluster', () => true)] : []),
    ...per('rack', perRack, 'rack'),
    ...per('powerCircuit', perCircuit, 'circuit'),
  ];
}
