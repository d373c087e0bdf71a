import type {
  ClusterView,
  Labels,
  NodeTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  Requirement,
  StorageClass,
} from '../cluster/cluster.ts';
import type { Reason } from '../reasons/reason.ts';
import { describeRequirement, describeTerm, holds, labelOf, selects, termHolds } from './requirements.ts';

/** What a pod's claims ask of a node. */
export interface VolumeNeed {
  /** Volumes it has: the node must reach every one. */
  readonly bound: readonly PersistentVolume[];
  /** Claims that are bound when the pod is, the smallest first. */
  readonly open: readonly OpenClaim[];
  /** Claims of which one pod only may exist. */
  readonly exclusive: readonly string[];
}

interface OpenClaim {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  /** Of its class. */
  readonly volumes: readonly PersistentVolume[];
}

export interface Storage {
  /** Why no node will do at all, or what a node must have. */
  need(namespace: string, claims: readonly string[]): Reason | VolumeNeed;
}

/** Undefined when claims, volumes or classes could not be read: volumes are then left out of account. */
export function createStorage({ claims, volumes, storageClasses }: ClusterView): Storage | undefined {
  if (!claims || !volumes || !storageClasses) return undefined;
  const claimOf = new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
  const volumeOf = new Map(volumes.map((volume) => [volume.name, volume]));
  const classOf = new Map(storageClasses.map((storageClass) => [storageClass.name, storageClass]));
  const ofClass = Map.groupBy(
    volumes.toSorted((a, b) => a.capacity - b.capacity || (a.name < b.name ? -1 : 1)),
    (volume) => volume.storageClass,
  );
  return {
    need(namespace, names) {
      const bound: PersistentVolume[] = [];
      const open: OpenClaim[] = [];
      const exclusive: string[] = [];
      for (const name of names) {
        const claim = claimOf.get(`${namespace}/${name}`);
        if (!claim) return { code: 'claim-missing', claim: name };
        if (claim.terminating) return { code: 'claim-deleting', claim: name };
        if (claim.lost) return { code: 'claim-lost', claim: name };
        if (claim.accessModes.includes('ReadWriteOncePod')) exclusive.push(`${namespace}/${name}`);
        if (claim.volume && claim.bound) {
          const volume = volumeOf.get(claim.volume);
          if (!volume) return { code: 'volume-missing', claim: name };
          bound.push(volume);
          continue;
        }
        const storageClass = classOf.get(claim.storageClass);
        // The volume controller has yet to do its part; no node changes that.
        if (claim.volume || !storageClass?.waits) return { code: 'claim-unbound', claim: name };
        open.push({ claim, storageClass, volumes: ofClass.get(claim.storageClass) ?? [] });
      }
      open.sort((a, b) => a.claim.requested - b.claim.requested);
      return { bound, open, exclusive };
    },
  };
}

/** Every term that a node may be judged by for the sake of volumes. */
export const volumeTerms = ({ bound, open }: VolumeNeed): NodeTerm[] => [
  ...bound.flatMap(({ nodeAffinity, zones }) => [...(nodeAffinity ?? []), ...zoneTerms(zones)]),
  ...open.flatMap(({ claim, storageClass, volumes }) => [
    ...(storageClass.topologies ?? []),
    ...volumes.flatMap(({ nodeAffinity }) => nodeAffinity ?? []),
    ...(claim.selectedNode ? [onNode(claim.selectedNode)] : []),
  ]),
];

const onNode = (name: string): NodeTerm => ({
  labels: [],
  fields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
});

export function volumeMisfit({ bound, open }: VolumeNeed, labels: Labels, node: string): Reason | undefined {
  for (const { name, nodeAffinity, zones = [] } of bound) {
    if (!reaches(nodeAffinity, labels, node))
      return { code: 'volume-affinity', volume: name, terms: anyOf(nodeAffinity) };
    const far = zones.find((zone) => isZoned(labels) && !isIn(zone, labels));
    if (far) return { code: 'volume-affinity', volume: name, terms: describeRequirement(far) };
  }
  const taken = new Set<PersistentVolume>();
  for (const { claim, storageClass, volumes } of open) {
    if (claim.selectedNode) {
      if (claim.selectedNode !== node)
        return { code: 'claim-elsewhere', claim: claim.name, node: claim.selectedNode };
    } else {
      const found = findVolume(claim, volumes, taken, labels, node);
      if (found) {
        taken.add(found);
        continue;
      }
    }
    if (!storageClass.provisioner) return { code: 'no-free-volume', claim: claim.name };
    if (!reaches(storageClass.topologies, labels, node))
      return { code: 'claim-topology', claim: claim.name, terms: anyOf(storageClass.topologies) };
  }
  return undefined;
}

const anyOf = (terms: readonly NodeTerm[] = []): string => terms.map(describeTerm).join(' or ');

const zoneKeys = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
const oldZoneKeys = ['failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'];
const allZoneKeys: readonly string[] = [...zoneKeys, ...oldZoneKeys];

const isZoned = (labels: Labels): boolean => allZoneKeys.some((key) => labelOf(labels, key) !== undefined);

const renamed = (zone: Requirement): Requirement => ({
  ...zone,
  key: zoneKeys[oldZoneKeys.indexOf(zone.key)] ?? zone.key,
});

/** A volume's old label means the node's new one, where the node has no old one. */
const isIn = (zone: Requirement, labels: Labels): boolean =>
  holds(labelOf(labels, zone.key) === undefined ? renamed(zone) : zone, labels);

const zoneTerms = (zones: readonly Requirement[] = []): NodeTerm[] =>
  zones.length === 0
    ? []
    : [
        {
          labels: [
            ...zones,
            ...zones.map(renamed),
            ...allZoneKeys.map((key) => ({ key, operator: 'Exists', values: [] })),
          ],
          fields: [],
        },
      ];

const reaches = (terms: readonly NodeTerm[] | undefined, labels: Labels, node: string): boolean =>
  terms === undefined || terms.some((term) => termHolds(term, labels, node));

/** The volume made for the claim, else the smallest that will do. */
function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  taken: ReadonlySet<PersistentVolume>,
  labels: Labels,
  node: string,
): PersistentVolume | undefined {
  const fit = volumes.filter(
    (volume) =>
      !taken.has(volume) &&
      !volume.terminating &&
      volume.capacity >= claim.requested &&
      volume.volumeMode === claim.volumeMode &&
      claim.accessModes.every((mode) => volume.accessModes.includes(mode)),
  );
  const own = fit.find((volume) => isFor(volume, claim));
  if (own) return reaches(own.nodeAffinity, labels, node) ? own : undefined;
  return fit.find(
    (volume) =>
      volume.claim === undefined &&
      volume.available &&
      (claim.selector === undefined || selects(claim.selector, volume.labels)) &&
      reaches(volume.nodeAffinity, labels, node),
  );
}

const isFor = (
  { claim: wanted }: PersistentVolume,
  { namespace, name, uid }: PersistentVolumeClaim,
): boolean =>
  wanted !== undefined &&
  wanted.namespace === namespace &&
  wanted.name === name &&
  (wanted.uid === undefined || wanted.uid === uid);
