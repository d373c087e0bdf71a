import type { Node } from './cluster.ts';
import type { Machine, MachineSpec } from './machine.ts';

export interface Match {
  readonly node: Node;
  /** What gave it away. */
  readonly by: 'providerID' | 'systemUUID' | 'name';
}

/** The first that fits wins: what the hardware says counts more than a name that people chose. */
const ways: readonly {
  readonly by: Match['by'];
  readonly same: (spec: MachineSpec, node: Node) => boolean;
}[] = [
  {
    by: 'providerID',
    same: (spec, node) => spec.providerID !== undefined && spec.providerID === node.providerID,
  },
  {
    by: 'systemUUID',
    same: (spec, node) =>
      spec.systemUUID !== undefined && spec.systemUUID.toLowerCase() === node.systemUUID?.toLowerCase(),
  },
  {
    by: 'name',
    // A node that shows another machine's UUID is another machine, whatever its name.
    same: (spec, node) => spec.name === node.name && !(spec.systemUUID && node.systemUUID),
  },
];

/** The node that this machine has become, if it is in the cluster. */
export function matchNode({ spec }: Machine, nodes: readonly Node[]): Match | undefined {
  for (const { by, same } of ways) {
    const node = nodes.find((candidate) => same(spec, candidate));
    if (node) return { node, by };
  }
  return undefined;
}

/** A node that was there before the machine was last powered on has not come back yet, whatever it says. */
export function isLeftOver({ status }: Machine, node: Node): boolean {
  const awaited = status.bootTime !== undefined && status.joinTime === undefined;
  return awaited && status.bootID !== undefined && status.bootID === node.bootID;
}
