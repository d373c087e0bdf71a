import type { Labels } from '../cluster.ts';
import { labelOf } from './requirements.ts';

/** Every place of the cluster is one domain of this key, … */
export const wholeCluster = 0;
/** … and every place its own of this one. */
export const samePlace = 1;

/** Numbers the values of every label that somebody's affinity or spread goes by. */
export interface Topology {
  readonly keys: string[];
  readonly domains: Map<string, number>[];
}

export const createTopology = (): Topology => ({
  keys: ['the cluster', 'the node'],
  domains: [new Map(), new Map()],
});

export function topologyKey(topology: Topology, label: string): number {
  const known = topology.keys.indexOf(label, samePlace + 1);
  if (known >= 0) return known;
  topology.domains.push(new Map());
  return topology.keys.push(label) - 1;
}

/** The place's domain for every key; -1 where it has none. */
export function domainsOf({ keys, domains }: Topology, labels: Labels): Int32Array {
  const row = new Int32Array(keys.length);
  for (let key = samePlace + 1; key < keys.length; key++) {
    const value = labelOf(labels, keys[key] as string);
    row[key] = value === undefined ? -1 : numberOf(domains[key] as Map<string, number>, value);
  }
  return row;
}

function numberOf(values: Map<string, number>, value: string): number {
  const known = values.get(value);
  if (known !== undefined) return known;
  values.set(value, values.size);
  return values.size - 1;
}
