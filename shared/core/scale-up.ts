import type { Pod } from './cluster.ts';
import type { Candidate, DemandGroup, Intent, Unmet } from './decision.ts';
import { misfit } from './fit.ts';
import { capacityOf, lifecycle } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import { packAll } from './pack.ts';
import type { Resources } from './resources.ts';
import { count, hostnameLabel, openNodes, placeOf, podName, type Snapshot, waitingPods } from './snapshot.ts';
import { byText, plural } from './text.ts';
import { transition } from './transition.ts';

export interface ScaleUp {
  readonly demand: readonly DemandGroup[];
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  readonly unmet: readonly Unmet[];
}

/** Unschedulable pods → the fewest machines that hold them; pools below their minimum → up to it. */
export function scaleUp(snapshot: Snapshot, now: number): ScaleUp {
  const waiting = waitingPods(snapshot.cluster);
  const coming = snapshot.machines.filter((machine) => capacityOf(machine) === 'coming').map(placeOf);
  // Room that is there or on its way is used first: nothing is powered on for it.
  const needy = packAll(waiting, [...openNodes(snapshot), ...coming]);
  let rest = needy;

  const rejected = new Map<string, string>();
  const eligible: Machine[] = [];
  for (const machine of snapshot.machines) {
    if (capacityOf(machine) !== 'none') continue;
    const why = whyNot(machine, snapshot, now);
    if (why) rejected.set(machine.spec.name, why);
    else eligible.push(machine);
  }
  eligible.sort((a, b) => watts(a) - watts(b) || byText(a.spec.name, b.spec.name));

  const room = roomInPools(snapshot);
  const intents: Intent[] = [];
  const take = (machine: Machine, why: string): void => {
    intents.push({ kind: 'power-on', machine: machine.spec.name, why });
    eligible.splice(eligible.indexOf(machine), 1);
    room.set(machine.spec.pool, (room.get(machine.spec.pool) ?? 0) - 1);
  };
  const closed = (machine: Machine): boolean => (room.get(machine.spec.pool) ?? 0) <= 0;

  const kindOf = kinds(eligible, needy);
  while (rest.length > 0) {
    const best = mostPods(
      eligible.filter((machine) => !closed(machine)),
      rest,
      kindOf,
    );
    if (!best) break;
    const served = rest.length - best.left.length;
    take(best.machine, `holds ${served} of ${rest.length} waiting ${plural(rest.length, 'pod')}`);
    rest = best.left;
  }
  for (const pool of snapshot.pools) {
    const members = snapshot.machines.filter((machine) => machine.spec.pool === pool.name);
    const chosen = intents.filter((intent) =>
      members.some(({ spec }) => spec.name === intent.machine),
    ).length;
    let missing = pool.limits.minNodes - count(members, 'coming', 'serving') - chosen;
    for (const machine of eligible.filter(({ spec }) => spec.pool === pool.name)) {
      if (missing-- <= 0 || closed(machine)) break;
      take(machine, `pool ${pool.name} keeps at least ${pool.limits.minNodes} on`);
    }
  }

  for (const machine of eligible)
    rejected.set(
      machine.spec.name,
      closed(machine) && rest.length > 0
        ? `pool ${machine.spec.pool} is at its maxNodes`
        : whyNoHelp(machine, needy),
    );
  const byName = new Map(snapshot.machines.map((machine) => [machine.spec.name, machine]));
  return {
    demand: groupPods(waiting),
    intents,
    candidates: [
      ...intents.map(({ machine, why }) => ({
        machine,
        verdict: 'power-on' as const,
        why,
        watts: byName.get(machine)?.spec.watts?.max,
      })),
      ...[...rejected].map(([machine, why]) => ({ machine, verdict: 'rejected' as const, why })),
    ],
    unmet: rest.map((pod) => ({ pod: podName(pod), why: whyUnmet(pod, snapshot, rejected) })),
  };
}

function whyNot(machine: Machine, { settings, pools }: Snapshot, now: number): string | undefined {
  if (!pools.some((pool) => pool.name === machine.spec.pool))
    return `its pool ${machine.spec.pool} is not defined`;
  const { state, lastError, powerState, bmcReachable } = machine.status;
  const { on, means } = lifecycle[state];
  if (!on['power-on-requested']) return lastError ? `${means}: ${lastError.message}` : means;
  const asked = transition(machine, { type: 'power-on-requested', operation: '' }, now, settings.timings);
  if (!asked.ok) return asked.why;
  if (bmcReachable === false) return 'its BMC does not answer';
  if (powerState !== 'off') return `its power is ${powerState}: not known to be off`;
  return undefined;
}

/** How many more machines each pool may have on. What is leaving still counts: it is on. */
function roomInPools({ pools, machines }: Snapshot): Map<string, number> {
  return new Map(
    pools.map(({ name, limits }) => [
      name,
      (limits.maxNodes || Number.POSITIVE_INFINITY) -
        count(
          machines.filter(({ spec }) => spec.pool === name),
          'coming',
          'serving',
          'leaving',
        ),
    ]),
  );
}

function whyNoHelp(machine: Machine, pods: readonly Pod[]): string {
  const place = placeOf(machine);
  const [first] = pods;
  return first && pods.every((pod) => misfit(pod, place)) ? (misfit(first, place) ?? '') : 'not needed';
}

/** Machines of one kind hold the same pods: the first speaks for all. */
function mostPods(
  machines: readonly Machine[],
  pods: readonly Pod[],
  kindOf: (machine: Machine) => string,
): { readonly machine: Machine; readonly left: Pod[] } | undefined {
  const tried = new Set<string>();
  let best: { machine: Machine; left: Pod[] } | undefined;
  for (const machine of machines) {
    if (tried.has(kindOf(machine))) continue;
    tried.add(kindOf(machine));
    const left = packAll(pods, [placeOf(machine)]);
    if (left.length < (best?.left.length ?? pods.length)) best = { machine, left };
  }
  return best;
}

/** What decides which pods fit on a machine. Its name does only where a pod asks for it. */
function kinds(machines: readonly Machine[], pods: readonly Pod[]): (machine: Machine) => string {
  const named = pods.some((pod) => hostnameLabel in pod.nodeSelector);
  const known = new Map(
    machines.map((machine) => {
      const { name, pool, resources, labels, taints } = machine.spec;
      return [machine, JSON.stringify([named && name, pool, resources, labels, taints])];
    }),
  );
  return (machine) => known.get(machine) ?? machine.spec.name;
}

function whyUnmet(pod: Pod, { machines }: Snapshot, rejected: ReadonlyMap<string, string>): string {
  if (machines.length === 0) return 'there are no machines in the inventory';
  const reasons = new Map<string, number>();
  for (const machine of machines) {
    const why =
      misfit(pod, placeOf(machine)) ?? rejected.get(machine.spec.name) ?? 'its room is taken by other pods';
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  const listed = [...reasons].sort((a, b) => b[1] - a[1]).map(([why, machines]) => `${machines}: ${why}`);
  return `0 of ${machines.length} ${plural(machines.length, 'machine')} can run it (${listed.join('; ')})`;
}

function groupPods(pods: readonly Pod[]): DemandGroup[] {
  const groups = new Map<string, { pods: number; requests: Resources; example: string }>();
  for (const pod of pods) {
    const key = JSON.stringify(Object.entries(pod.requests).sort());
    const group = groups.get(key);
    if (group) group.pods += 1;
    else groups.set(key, { pods: 1, requests: pod.requests, example: podName(pod) });
  }
  return [...groups.values()];
}

const watts = (machine: Machine): number => machine.spec.watts?.max ?? Number.MAX_SAFE_INTEGER;
