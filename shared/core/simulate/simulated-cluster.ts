import type { Pod } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Snapshot } from '../decide/snapshot.ts';
import type { Machine } from '../machine/machine.ts';
import { grown } from './arrays.ts';
import { count } from './counter.ts';
import { isTolerated, type NodeClass, whereHolds } from './node-filter.ts';
import { createSites, daemonPod, type Site } from './places.ts';
import { createCompany } from './pod-affinity.ts';
import type { PodKind } from './pod-class.ts';
import { createKinds } from './pod-classes.ts';
import { createPodTerms } from './pod-terms.ts';
import { admit, countSpread, dismiss, type Eligibility, isMember } from './spread.ts';
import type { Place, World } from './state.ts';
import { createTopology, samePlace } from './topology.ts';
import { createAsked } from './visible-labels.ts';
import { createStorage } from './volumes.ts';

export { answerByRules, answerOf, answers, fits, howMany, misfit, preference } from './fits.ts';
export { looksAround, type PodKind } from './pod-class.ts';
export type { Place, World } from './state.ts';
export { isOwn } from './topology.ts';

/** How much had been done. */
export type Mark = number;

/**
 * The cluster with every pod where it is: nodes, and machines that are coming as the nodes they will be. Pods that the
 * scheduler makes room for count on that node. Nodes that are not Ready or are being emptied are there, but closed.
 */
export function createWorld(snapshot: Snapshot, now?: number): World {
  const { cluster } = snapshot;
  const asked = createAsked();
  const topology = createTopology();
  const columns = new Map([['pods', 0]]);
  const company = createCompany(topology, createPodTerms(cluster.namespaces));
  const kinds = createKinds({ asked, columns, company, storage: createStorage(cluster) });

  const pods = cluster.pods.filter((pod) => !pod.finished);
  const daemons = (cluster.daemonSets ?? []).map(daemonPod);
  for (const pod of daemons) kinds.look(pod);
  const shapes = pods.map((pod) => kinds.look(pod));
  const kindsOfPods = pods.map((pod, index) => kinds.kindOf(pod, shapes[index]));
  for (const pod of daemons) kinds.kindOf(pod);
  kinds.seal();

  const sites = createSites({ snapshot, now, kinds, asked, topology, columns });
  const byNode = new Map<string, Place>();
  const world: World = {
    places: [],
    byNode,
    topology,
    eligibilities: company.eligibilities,
    kinds,
    sites,
    asked,
    askedVersion: asked.version,
    columns,
    width: columns.size,
    keys: topology.keys.length,
    free: new Float64Array(0),
    domains: new Int32Array(0),
    closed: new Uint8Array(0),
    classOf: [],
    done: [],
  };
  for (const site of sites.existing()) {
    const place = addSite(world, site);
    if (place.node) byNode.set(place.node.name, place);
  }
  for (let index = 0; index < pods.length; index++) {
    const { node, nominatedNode } = pods[index] as Pod;
    const place = byNode.get(node ?? nominatedNode ?? '');
    if (place) change(world, kindsOfPods[index] as PodKind, place.index, 1);
  }
  return world;
}

/**
 * A machine that is off as the node it would become: what was declared, with the DaemonSet pods that will be there.
 * Everything that depends on domains sees it at once, so a machine that is only tried is taken back by a rollback.
 */
export function addMachine(world: World, machine: Machine): Place {
  const added = addSite(world, world.sites.ofMachine(machine));
  world.done.push({ added });
  return added;
}

/** It takes no more pods. Those on it count until they are removed. */
export function closePlace(world: World, place: Place): void {
  if (world.closed[place.index] !== 0) return;
  world.closed[place.index] = 1;
  world.done.push({ closed: place });
}

/** It is not there at all: unlike a closed place it is no domain that pods could be spread over. */
export function leavePlace(world: World, place: Place): void {
  closePlace(world, place);
  for (const eligibility of world.eligibilities) {
    if (!isMember(eligibility, place.index)) continue;
    dismiss(eligibility, place.index, domainOf(world, place, eligibility.key));
    world.done.push({ dismissed: place, from: eligibility });
  }
}

const domainOf = (world: World, { index }: Place, key: number): number =>
  world.domains[index * world.keys + key] as number;

/** It takes pods again, as it would if it were not cordoned. */
export function openPlace(world: World, place: Place): void {
  const was = world.classOf[place.index] as NodeClass;
  world.classOf[place.index] = world.sites.classify(place.labels, place.name, was.taints, false);
  world.closed[place.index] = 0;
  world.done.push({ opened: place, was });
}

/** It has so much more room. */
export function growPlace(world: World, place: Place, by: Resources): Place {
  enlarge(world, place, by, 1);
  world.done.push({ grown: place, by });
  return place;
}

function enlarge(world: World, { index }: Place, by: Resources, sign: 1 | -1): void {
  for (const [name, column] of world.columns) {
    const at = index * world.width + column;
    if (by[name] !== undefined) world.free[at] = (world.free[at] as number) + sign * by[name];
  }
}

/** Pods with affinity, spread or host ports must be in the snapshot the world was made from. */
export function kindOf(world: World, pod: Pod): PodKind {
  const kind = world.kinds.kindOf(pod);
  if (world.columns.size > world.width) widen(world);
  if (world.asked.version > world.askedVersion) tellApart(world);
  return kind;
}

export function put(world: World, kind: PodKind, place: Place, pods: number): void {
  if (pods === 0) return;
  change(world, kind, place.index, pods);
  world.done.push({ kind, place: place.index, pods });
}

export const remove = (world: World, kind: PodKind, place: Place, pods: number): void =>
  put(world, kind, place, -pods);

export const mark = (world: World): Mark => world.done.length;

/** Everything is again as it was at the mark. */
export function rollback(world: World, to: Mark): void {
  while (world.done.length > to) {
    const last = world.done.pop();
    if (!last) return;
    if ('kind' in last) change(world, last.kind, last.place, -last.pods);
    else if ('added' in last) dropLast(world, last.added);
    else if ('closed' in last) world.closed[last.closed.index] = 0;
    else if ('dismissed' in last)
      admit(last.from, last.dismissed.index, domainOf(world, last.dismissed, last.from.key));
    else if ('opened' in last) {
      world.closed[last.opened.index] = 1;
      world.classOf[last.opened.index] = last.was;
    } else enlarge(world, last.grown, last.by, -1);
  }
}

/** Whatever the attempt does to the world is taken back. */
export function tried<Result>(world: World, attempt: () => Result): Result {
  const before = mark(world);
  const result = attempt();
  rollback(world, before);
  return result;
}

function change(
  world: World,
  { columns, amounts, feeds, spreadFeeds }: PodKind,
  place: number,
  pods: number,
): void {
  const { free, domains } = world;
  const row = place * world.width;
  for (let i = 0; i < columns.length; i++) {
    const at = row + (columns[i] as number);
    free[at] = (free[at] as number) - pods * (amounts[i] as number);
  }
  const domainRow = place * world.keys;
  for (const counter of feeds) {
    const domain = domains[domainRow + counter.key] as number;
    if (domain >= 0) count(counter, domain, pods);
  }
  for (const group of spreadFeeds)
    if (isMember(group.eligibility, place))
      countSpread(group, domains[domainRow + group.counter.key] as number, pods);
}

function addSite(world: World, site: Site): Place {
  const { name, node, machine, labels, allocatable, shut, nodeClass, daemons } = site;
  const index = world.places.length;
  const place: Place = { index, name, node, machine, labels, allocatable, shut, daemons };
  world.places.push(place);
  world.classOf.push(nodeClass);
  world.free = grown(world.free, (index + 1) * world.width);
  world.free.set(site.free, index * world.width);
  world.domains = grown(world.domains, (index + 1) * world.keys);
  world.domains.set(site.domains, index * world.keys);
  world.domains[index * world.keys + samePlace] = index;
  world.closed = grown(world.closed, index + 1);
  world.closed[index] = shut === undefined ? 0 : 1;
  for (const eligibility of world.eligibilities)
    if (isEligible(eligibility, site)) admit(eligibility, index, site.domains[eligibility.key] as number);
  for (const daemon of site.daemons) change(world, daemon, index, 1);
  return place;
}

function isEligible({ keys, where, tolerance }: Eligibility, { domains, nodeClass }: Site): boolean {
  return (
    keys.every((key) => (domains[key] as number) >= 0) &&
    (where === undefined || whereHolds(where, nodeClass)) &&
    (tolerance === undefined || isTolerated(tolerance, nodeClass))
  );
}

function dropLast(world: World, { index, daemons }: Place): void {
  for (const daemon of daemons) change(world, daemon, index, -1);
  for (const eligibility of world.eligibilities)
    dismiss(eligibility, index, world.domains[index * world.keys + eligibility.key] as number);
  world.places.pop();
  world.classOf.pop();
}

/** A resource that nobody had asked for until now. */
function widen(world: World): void {
  const width = world.columns.size;
  const free = new Float64Array((world.places.length + 1) * width);
  for (const { index, allocatable } of world.places) {
    const row = world.free.subarray(index * world.width, (index + 1) * world.width);
    free.set(row, index * width);
    for (const [name, column] of world.columns)
      if (column >= world.width) free[index * width + column] = allocatable[name] ?? 0;
  }
  world.free = free;
  world.width = width;
  world.sites.forget();
}

/** Places that were alike may differ by what is asked now. */
function tellApart(world: World): void {
  for (const { index, labels, name } of world.places) {
    const { taints, cordoned } = world.classOf[index] as NodeClass;
    world.classOf[index] = world.sites.classify(labels, name, taints, cordoned);
  }
  world.askedVersion = world.asked.version;
  world.sites.forget();
}
