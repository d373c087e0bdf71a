import type {
  ClusterView,
  Labels,
  PersistentVolume,
  PersistentVolumeClaim,
  Requirement,
  StorageClass,
} from '../../../shared/core/cluster/cluster.ts';
import { nodeTermsHold, requirementHolds, selectorHolds } from './labels.ts';

/** What the claims of a pod ask of its node. */
export interface VolumeAsk {
  readonly bound: readonly PersistentVolume[];
  readonly open: readonly { readonly claim: PersistentVolumeClaim; readonly storageClass: StorageClass }[];
  /** ReadWriteOncePod claims. */
  readonly exclusive: readonly string[];
  /** No node can run the pod. */
  readonly impossible: boolean;
}

const zoneKeys = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
const oldZoneKeys = ['failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'];
const volumeLabelKeys: readonly string[] = [...zoneKeys, ...oldZoneKeys];

/** Claims, volumes and classes by name; undefined where they could not be read. */
export interface Storage {
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
  readonly classes: ReadonlyMap<string, StorageClass>;
  /** Volumes that are free, by class, and those kept for a claim, by its name; smallest first. */
  readonly free: ReadonlyMap<string, readonly PersistentVolume[]>;
  readonly kept: ReadonlyMap<string, readonly PersistentVolume[]>;
}

export function createStorage({ claims, volumes, storageClasses }: ClusterView): Storage | undefined {
  if (!claims || !volumes || !storageClasses) return undefined;
  const sorted = volumes.toSorted((a, b) => a.capacity - b.capacity || (a.name < b.name ? -1 : 1));
  return {
    claims: new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim])),
    volumes: new Map(volumes.map((volume) => [volume.name, volume])),
    classes: new Map(storageClasses.map((one) => [one.name, one])),
    free: Map.groupBy(
      sorted.filter(({ available, claim }) => available && claim === undefined),
      ({ storageClass }) => storageClass,
    ),
    kept: Map.groupBy(
      sorted.filter(({ claim }) => claim !== undefined),
      ({ claim }) => `${claim?.namespace}/${claim?.name}`,
    ),
  };
}

export function volumeAskOf(
  storage: Storage | undefined,
  namespace: string,
  names: readonly string[] | undefined,
): VolumeAsk | undefined {
  if (!names || names.length === 0 || !storage) return undefined;
  const bound: PersistentVolume[] = [];
  const open: { claim: PersistentVolumeClaim; storageClass: StorageClass }[] = [];
  const exclusive: string[] = [];
  let impossible = false;
  for (const name of names) {
    const claim = storage.claims.get(`${namespace}/${name}`);
    if (!claim || claim.terminating || claim.lost) {
      impossible = true;
      continue;
    }
    if (claim.accessModes.includes('ReadWriteOncePod')) exclusive.push(`${namespace}/${name}`);
    if (claim.volume !== undefined && claim.bound) {
      const volume = storage.volumes.get(claim.volume);
      if (volume) bound.push(volume);
      else impossible = true;
      continue;
    }
    const ofClaim = storage.classes.get(claim.storageClass);
    if (claim.volume !== undefined || !ofClaim?.waits) impossible = true;
    else open.push({ claim, storageClass: ofClaim });
  }
  return { bound, open, exclusive, impossible };
}

/** Every label key by which a volume tells nodes apart. */
export const keysOfVolumes = ({ volumes = [], storageClasses = [] }: ClusterView): string[] => [
  ...volumeLabelKeys,
  ...[
    ...volumes.flatMap(({ nodeAffinity }) => nodeAffinity ?? []),
    ...storageClasses.flatMap(({ topologies }) => topologies ?? []),
  ].flatMap(({ labels }) => labels.map(({ key }) => key)),
];

/** Whether the node reaches, or can get, every volume of the pod. */
export function volumesAllow(
  { bound, open }: VolumeAsk,
  storage: Storage,
  labels: Labels,
  node: string,
): boolean {
  const reached = bound.every(
    ({ nodeAffinity, zones = [] }) =>
      nodeTermsHold(nodeAffinity, labels, node) && zones.every((zone) => isInZone(zone, labels)),
  );
  if (!reached) return false;
  const taken = new Set<PersistentVolume>();
  return open
    .toSorted((a, b) => a.claim.requested - b.claim.requested)
    .every(({ claim, storageClass }) => {
      if (claim.selectedNode !== undefined && claim.selectedNode !== node) return false;
      if (claim.selectedNode === undefined) {
        const found = freeVolume(claim, storage, taken, labels, node);
        if (found) {
          taken.add(found);
          return true;
        }
      }
      return storageClass.provisioner !== undefined && nodeTermsHold(storageClass.topologies, labels, node);
    });
}

/** Zone labels of a volume bind only nodes that have zone labels; an old label means the new one. */
function isInZone(zone: Requirement, labels: Labels): boolean {
  if (!volumeLabelKeys.some((key) => Object.hasOwn(labels, key))) return true;
  const renamed = zoneKeys[oldZoneKeys.indexOf(zone.key)];
  const key = !Object.hasOwn(labels, zone.key) && renamed !== undefined ? renamed : zone.key;
  return requirementHolds({ ...zone, key }, labels);
}

function freeVolume(
  claim: PersistentVolumeClaim,
  { free, kept }: Storage,
  taken: ReadonlySet<PersistentVolume>,
  labels: Labels,
  node: string,
): PersistentVolume | undefined {
  const willDo = (volume: PersistentVolume): boolean =>
    volume.storageClass === claim.storageClass &&
    !taken.has(volume) &&
    !volume.terminating &&
    volume.capacity >= claim.requested &&
    volume.volumeMode === claim.volumeMode &&
    claim.accessModes.every((mode) => volume.accessModes.includes(mode));
  const own = (kept.get(`${claim.namespace}/${claim.name}`) ?? []).find(
    (volume) => willDo(volume) && (volume.claim?.uid === undefined || volume.claim.uid === claim.uid),
  );
  if (own) return nodeTermsHold(own.nodeAffinity, labels, node) ? own : undefined;
  return (free.get(claim.storageClass) ?? []).find(
    (volume) =>
      willDo(volume) &&
      (claim.selector === undefined || selectorHolds(claim.selector, volume.labels)) &&
      nodeTermsHold(volume.nodeAffinity, labels, node),
  );
}
