import type { Labels } from '../cluster/cluster.ts';
import { labelOf } from './requirements.ts';

/** Every place of the cluster is one domain of this key, … */
export const wholeCluster = 0;
/** … and every place its own of this one. */
export const samePlace = 1;

/** The label by which every node is a domain of its own. */
export const hostname = 'kubernetes.io/hostname';

/** Whether a domain of the key is one node: what is said of one place by it is said of that place alone. */
export const isOwn = ({ topology }: { readonly topology: Topology }, key: number): boolean =>
  key === samePlace || key === topology.hostnameKey;

/** Numbers the values of every label that somebody's affinity or spread goes by. */
export interface Topology {
  readonly keys: string[];
  readonly domains: Map<string, number>[];
  /** -1: no rule goes by host names. */
  hostnameKey: number;
}

export const createTopology = (): Topology => ({
  keys: ['the cluster', 'the node'],
  domains: [new Map(), new Map()],
  hostnameKey: -1,
});

export function topologyKey(topology: Topology, label: string): number {
  const known = topology.keys.indexOf(label, samePlace + 1);
  if (known >= 0) return known;
  topology.domains.push(new Map());
  const key = topology.keys.push(label) - 1;
  if (label === hostname) topology.hostnameKey = key;
  return key;
}

/** The place's domain for every key; -1 where it has none. */
export function domainsOf(topology: Topology, labels: Labels): Int32Array {
  const row = new Int32Array(topology.keys.length);
  writeDomains(topology, (key) => labelOf(labels, key), row, 0);
  return row;
}

/** The same, into a row of others. */
export function writeDomains(
  { keys, domains }: Topology,
  labelAt: (key: string) => string | undefined,
  rows: Int32Array,
  from: number,
): void {
  for (let key = samePlace + 1; key < keys.length; key++) {
    const value = labelAt(keys[key] as string);
    rows[from + key] = value === undefined ? -1 : numberOf(domains[key] as Map<string, number>, value);
  }
}

function numberOf(values: Map<string, number>, value: string): number {
  const known = values.get(value);
  if (known !== undefined) return known;
  values.set(value, values.size);
  return values.size - 1;
}
