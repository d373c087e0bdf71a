import type { V1PersistentVolume, V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Requirement,
  StorageClass,
} from '../../core/cluster/cluster.ts';
import { parseQuantity } from '../../core/cluster/resources.ts';
import { toNodeTerm, toSelector } from './scheduling-rules.ts';

const oldClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function toVolume({ metadata, spec, status }: V1PersistentVolume): PersistentVolume {
  const { claimRef } = spec ?? {};
  const zones = toZones(metadata?.labels ?? {});
  return {
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    storageClass: metadata?.annotations?.[oldClassAnnotation] ?? spec?.storageClassName ?? '',
    capacity: parseQuantity(spec?.capacity?.storage ?? 0) ?? 0,
    accessModes: spec?.accessModes ?? [],
    volumeMode: spec?.volumeMode ?? 'Filesystem',
    available: status?.phase === 'Available',
    terminating: metadata?.deletionTimestamp !== undefined,
    claim: claimRef && {
      namespace: claimRef.namespace ?? '',
      name: claimRef.name ?? '',
      uid: claimRef.uid || undefined,
    },
    nodeAffinity: spec?.nodeAffinity?.required?.nodeSelectorTerms.map(toNodeTerm),
    zones: zones.length > 0 ? zones : undefined,
  };
}

const isZoneLabel = /^(topology|failure-domain\.beta)\.kubernetes\.io\/(zone|region)$/;

/** A volume of several zones has them all in one value. */
const toZones = (labels: Readonly<Record<string, string>>): Requirement[] =>
  Object.entries(labels)
    .filter(([key]) => isZoneLabel.test(key))
    .map(([key, value]) => ({ key, operator: 'In', values: value.split('__') }));

export function toClaim({ metadata, spec, status }: V1PersistentVolumeClaim): PersistentVolumeClaim {
  const annotations = metadata?.annotations ?? {};
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    storageClass: annotations[oldClassAnnotation] ?? spec?.storageClassName ?? '',
    requested: parseQuantity(spec?.resources?.requests?.storage ?? 0) ?? 0,
    accessModes: spec?.accessModes ?? [],
    volumeMode: spec?.volumeMode ?? 'Filesystem',
    selector: toSelector(spec?.selector),
    volume: spec?.volumeName || undefined,
    bound: annotations['pv.kubernetes.io/bind-completed'] !== undefined,
    lost: status?.phase === 'Lost',
    terminating: metadata?.deletionTimestamp !== undefined,
    selectedNode: annotations['volume.kubernetes.io/selected-node'] || undefined,
  };
}

export function toStorageClass(given: V1StorageClass): StorageClass {
  const topologies = (given.allowedTopologies ?? []).map(({ matchLabelExpressions }) => ({
    labels: (matchLabelExpressions ?? []).map(({ key, values }) => ({ key, operator: 'In', values })),
    fields: [],
  }));
  return {
    name: given.metadata?.name ?? '',
    waits: given.volumeBindingMode === 'WaitForFirstConsumer',
    provisioner: given.provisioner === 'kubernetes.io/no-provisioner' ? undefined : given.provisioner,
    topologies: topologies.length > 0 ? topologies : undefined,
  };
}
