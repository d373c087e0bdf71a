import { describeAmount } from '../cluster/resources.ts';
import { type Reason, textOf } from '../reasons/reason.ts';
import { createWorld, kindOf, misfit } from '../simulate/simulated-cluster.ts';
import { byText, plural } from '../text.ts';
import { decide } from './decide.ts';
import type { Candidate, DecisionRecord, OfferVerdict } from './decision.ts';
import { misfitOn } from './explain-unmet.ts';
import { podName, type Snapshot } from './snapshot.ts';

/** Why a pod runs where it does, or does not run: machine by machine, and what would help. */
export function explainPod(snapshot: Snapshot, name: string, now: number): string[] {
  const pod = snapshot.cluster.pods.find((one) => podName(one) === name);
  if (!pod) return [`There is no pod ${name}.`];
  if (pod.node) return [`${name} has a node: ${pod.node}.`];
  const wants = `${name} waits for ${describeRequests(pod.requests)}.`;
  const decision = decide(snapshot, now);
  const place = decision.assignments().find(({ pods }) => pods.includes(name))?.on;
  if (place !== undefined) return [wants, `  ${place}  ${comes(decision.candidates, place)}`];
  const world = createWorld(snapshot, now);
  const kind = kindOf(world, pod);
  const verdicts = new Map(decision.candidates.map((candidate) => [candidate.machine, candidate]));
  const why = new Map<string, string[]>();
  const reasons: Reason[] = [];
  const say = (text: string, who: string): void => {
    why.set(text, [...(why.get(text) ?? []), who]);
  };
  for (const machine of snapshot.machines) {
    const there = world.byNode.get(machine.status.kubernetesNode ?? machine.spec.name);
    const bad = there ? misfit(world, kind, there) : misfitOn(world, kind, machine);
    const verdict = verdicts.get(machine.spec.name);
    const reason = bad ?? verdict?.reason;
    if (reason) reasons.push(reason);
    say(bad ? textOf(bad) : `fits, but ${verdict?.why ?? 'other pods are served first'}`, machine.spec.name);
  }
  const unmet = decision.record.unmet.find((one) => one.pod === name)?.why;
  return [
    wants,
    ...columns([...why].map(([reason, who]) => [listed(who), reason])),
    ...(why.size === 0 && unmet ? [`  ${unmet}`] : []),
    ...section('Offers', offerLines(decision.record.offers ?? [])),
    ...helps(reasons),
  ];
}

function comes(candidates: readonly Candidate[], place: string): string {
  const found = candidates.find(({ machine }) => machine === place);
  if (found?.verdict === 'power-on') return 'is to be powered on for it';
  if (found?.verdict === 'resize') return 'is to be enlarged for it';
  if (found?.verdict === 'cancel-drain') return 'has its drain cancelled for it';
  return 'has room for it, or will have when it is Ready';
}

/** What a person could change. */
function helps(reasons: readonly Reason[]): string[] {
  const limits = reasons.flatMap((reason) =>
    reason.code === 'at-limit' && reason.pool !== undefined
      ? [`raise ${reason.pool}.limits.${reason.limit} above ${reason.most}`]
      : [],
  );
  return limits.length > 0 ? [`To run it: ${[...new Set(limits)].join(', or ')}.`] : [];
}

/** What became of one machine in a fresh look, and why. */
export function explainMachine(snapshot: Snapshot, name: string, now: number): string[] {
  const machine = snapshot.machines.find(({ spec }) => spec.name === name);
  if (!machine) return [`There is no machine ${name}.`];
  const { spec, status } = machine;
  const found = decide(snapshot, now).candidates.find((candidate) => candidate.machine === name);
  return [
    `${name} of pool ${spec.pool} is ${status.state}; its power is ${status.powerState}.`,
    ...(status.lastError ? [`  last error: ${status.lastError.message}`] : []),
    ...(found ? [`  ${found.verdict}: ${found.why}`] : []),
    ...Object.entries(found?.score ?? {}).map(([policy, value]) => `    ${policy} ${value}`),
  ];
}

export function explainDecision(record: DecisionRecord): string[] {
  const { summary, digest, demand, wants, candidates, offers = [], limits, unmet, notes } = record;
  return [
    `${summary} (inputs ${digest})`,
    ...section(
      'Demand',
      demand.map(
        ({ pods, requests, example, room, served }) =>
          `${pods} × ${describeRequests(requests)} (e.g. ${example}): ${room} have room, ${served} get it`,
      ),
    ),
    ...section('Wants', wants),
    ...section(
      'Machines',
      columns(
        candidates.map(({ machine, verdict, why, alike }) => [
          `${machine}${alike ? ` and ${alike.count} ${plural(alike.count, 'other')}` : ''}`,
          `${verdict}: ${why}`,
        ]),
      ).map((line) => line.slice(2)),
    ),
    ...section('Offers', offerLines(offers)),
    ...section('Limits', limits),
    ...section(
      'Unmet',
      unmet.map(({ pod, pods, why }) => `${pod}${pods > 1 ? ` and ${pods - 1} like it` : ''}: ${why}`),
    ),
    ...section('Notes', notes),
  ];
}

const offerLines = (offers: readonly OfferVerdict[]): string[] =>
  columns(
    offers.map(({ offer, pool, verdict, why }) => [`${offer} for ${pool}`, `${verdict}: ${why}`] as const),
  ).map((line) => line.slice(2));

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];

const describeRequests = (requests: Readonly<Record<string, number>>): string =>
  Object.entries(requests)
    .map(([name, amount]) => describeAmount(name, amount))
    .join(', ') || 'a place, whatever its size';

const mostNamed = 4;

const listed = (names: readonly string[]): string => {
  const sorted = names.toSorted(byText);
  return sorted.length <= mostNamed
    ? sorted.join(', ')
    : `${sorted.slice(0, mostNamed - 1).join(', ')} and ${sorted.length - mostNamed + 1} others`;
};

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([who]) => who.length));
  return rows.map(([who, why]) => `  ${who.padEnd(width)}  ${why}`);
}
