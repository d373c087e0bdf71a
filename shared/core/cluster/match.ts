import type { Machine, MachineSpec } from '../machine/machine.ts';
import type { Node } from './cluster.ts';
import { bamelKeys } from './names.ts';

/** What gave a node away, the surest first: what the hardware says counts more than a name that people chose. */
export const matchWays = ['providerID', 'systemUUID', 'macAddress', 'name'] as const;

export interface Match {
  readonly node: Node;
  readonly by: (typeof matchWays)[number];
}

/** The name of a machine's node for clients of Kubernetes such as the Cluster Autoscaler. */
export const providerIdOf = ({ name, providerID }: MachineSpec): string => providerID ?? `bamel://${name}`;

/** Finds the nodes that a machine may be, by one of the ways. */
type Find = (by: Match['by'], spec: MachineSpec) => readonly Node[];

/** Identifiers of nodes and machines: they match where these are equal. */
const nodeKeys: Readonly<Record<Match['by'], (node: Node) => readonly string[]>> = {
  providerID: ({ providerID }) => (providerID ? [providerID] : []),
  systemUUID: ({ systemUUID }) => (systemUUID ? [systemUUID.toLowerCase()] : []),
  macAddress: macsOf,
  name: ({ name }) => [name],
};
const machineKeys: Readonly<Record<Match['by'], (spec: MachineSpec) => readonly string[]>> = {
  providerID: (spec) => [providerIdOf(spec)],
  // BMCs and kernels do not agree on the byte order of the first three groups.
  systemUUID: ({ systemUUID }) => (systemUUID ? uuidsOf(systemUUID.toLowerCase()) : []),
  macAddress: ({ macAddress }) => (macAddress ? [hex(macAddress)] : []),
  name: ({ name }) => [name],
};

/** A node that shows another machine's hardware is another machine, whatever its name. */
const isOther = (spec: MachineSpec, node: Node): boolean =>
  Boolean(spec.systemUUID && node.systemUUID) || (spec.macAddress !== undefined && macsOf(node).length > 0);

/** An index, so that ten thousand machines and nodes are matched at once. */
export function finder(nodes: readonly Node[]): Find {
  const index = new Map<string, Node[]>();
  for (const node of nodes)
    for (const by of matchWays)
      for (const key of nodeKeys[by](node)) {
        const found = index.get(`${by} ${key}`);
        if (found) found.push(node);
        else index.set(`${by} ${key}`, [node]);
      }
  return (by, spec) => {
    const found = new Set(machineKeys[by](spec).flatMap((key) => index.get(`${by} ${key}`) ?? []));
    return [...found].filter((node) => by !== 'name' || !isOther(spec, node));
  };
}

/** The node that this machine has become, if it is in the cluster. */
export function matchNode(
  machine: Pick<Machine, 'spec'> & Partial<Machine>,
  nodes: readonly Node[],
): Match | undefined {
  const claim = claimOf(machine, finder(nodes));
  return claim && 'node' in claim ? claim : undefined;
}

/** Nodes with the same identifiers. */
export interface Ambiguity {
  readonly by: Match['by'];
  readonly nodes: readonly Node[];
}

/** The surest way that finds anything decides. */
export function claimOf(
  { spec, status }: Pick<Machine, 'spec'> & Partial<Machine>,
  find: Find,
): Match | Ambiguity | undefined {
  for (const by of matchWays) {
    const found = find(by, spec);
    if (found.length === 0) continue;
    const [only] = found;
    if (only && found.length === 1) return { node: only, by };
    const ready = found.filter((node) => node.ready);
    // One came back under a new name: the one that is Ready is it; while none is, the one we know.
    const chosen = ready.length === 1 ? ready : found.filter(({ name }) => name === status?.kubernetesNode);
    const [node] = chosen;
    return ready.length <= 1 && node ? { node, by } : { by, nodes: found };
  }
  return undefined;
}

/** A node that was there before the machine was last powered on has not come back yet, whatever it says. */
export function isLeftOver({ status }: Machine, node: Node): boolean {
  const awaited = status.bootTime !== undefined && status.joinTime === undefined;
  return awaited && status.bootID !== undefined && status.bootID === node.bootID;
}

function macsOf({ annotations, labels }: Node): string[] {
  const text = annotations[bamelKeys.macAddress] ?? labels[bamelKeys.macAddress];
  return text?.split(/[\s,]+/).map(hex) ?? [];
}

const hex = (text: string): string => text.toLowerCase().replaceAll(/[^0-9a-f]/g, '');

function uuidsOf(uuid: string): string[] {
  const reversed = (group: string): string => group.match(/../g)?.reverse().join('') ?? '';
  const swapped = uuid.split('-').map((group, index) => (index < 3 ? reversed(group) : group));
  return [uuid, swapped.join('-')];
}
