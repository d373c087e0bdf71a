import type { Node, Pod } from '../cluster/cluster.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import { byText } from '../text.ts';
import type { Snapshot } from './snapshot.ts';

/** The snapshot, put in order and indexed once. Who is listed first is no reason to be chosen. */
export interface Situation extends Snapshot {
  readonly now: number;
  readonly poolOf: ReadonlyMap<string, PoolSpec>;
  readonly members: ReadonlyMap<string, readonly Machine[]>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly machineOfNode: ReadonlyMap<string, Machine>;
  /** Pods that run or are about to, by their node. */
  readonly podsOn: ReadonlyMap<string, readonly Pod[]>;
}

const nobody: readonly Pod[] = [];

export function survey(snapshot: Snapshot, now: number): Situation {
  const machines = snapshot.machines.toSorted((a, b) => byText(a.spec.name, b.spec.name));
  const pools = snapshot.pools.toSorted((a, b) => byText(a.name, b.name));
  const members = new Map<string, Machine[]>(pools.map(({ name }) => [name, []]));
  const machineOfNode = new Map<string, Machine>();
  for (const machine of machines) {
    members.get(machine.spec.pool)?.push(machine);
    const { kubernetesNode } = machine.status;
    if (kubernetesNode !== undefined && capacityOf(machine) !== 'none')
      machineOfNode.set(kubernetesNode, machine);
  }
  const podsOn = new Map<string, Pod[]>();
  for (const pod of snapshot.cluster.pods) {
    if (pod.node === undefined || pod.finished) continue;
    const list = podsOn.get(pod.node);
    if (list) list.push(pod);
    else podsOn.set(pod.node, [pod]);
  }
  return {
    ...snapshot,
    machines,
    pools,
    now,
    poolOf: new Map(pools.map((pool) => [pool.name, pool])),
    members,
    nodes: new Map(snapshot.cluster.nodes.map((node) => [node.name, node])),
    machineOfNode,
    podsOn,
  };
}

export const podsOf = (situation: Situation, node: string): readonly Pod[] =>
  situation.podsOn.get(node) ?? nobody;

export const nodeOfMachine = (situation: Situation, { status }: Machine): Node | undefined =>
  status.kubernetesNode === undefined ? undefined : situation.nodes.get(status.kubernetesNode);
