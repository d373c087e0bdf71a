import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../shared/core/cluster/cluster.ts';
import type { Random } from './random.ts';
import { Gi, type Template, zone, zones } from './templates.ts';

const inZone = (...values: string[]) => [{ labels: [{ key: zone, operator: 'In', values }], fields: [] }];

export const storageClasses: readonly StorageClass[] = [
  { name: 'everywhere', waits: true, provisioner: 'test' },
  { name: 'zone-a', waits: true, provisioner: 'test', topologies: inZone('a') },
  { name: 'zone-b-or-c', waits: true, provisioner: 'test', topologies: inZone('b', 'c') },
];

export interface Disks {
  readonly claims: PersistentVolumeClaim[];
  readonly volumes: PersistentVolume[];
  /** The name of a new claim of the sort that the template wants. */
  claimFor(sort: NonNullable<Template['volume']>, random: Random, at?: string): string;
}

export function createDisks(): Disks {
  const claims: PersistentVolumeClaim[] = [];
  const volumes: PersistentVolume[] = [];
  const claimFor: Disks['claimFor'] = (sort, random, at) => {
    const name = `claim-${claims.length}`;
    const claim: PersistentVolumeClaim = {
      namespace: 'default',
      name,
      uid: name,
      storageClass: 'everywhere',
      requested: Gi,
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      bound: false,
      lost: false,
      terminating: false,
    };
    if (sort === 'open') {
      claims.push({ ...claim, storageClass: random.pick(storageClasses).name });
      return name;
    }
    const last = claims.at(-1);
    // Every other pod wants the claim of the one before.
    if (sort === 'once' && last?.accessModes.includes('ReadWriteOncePod') && random.chance(0.5))
      return last.name;
    const where = at ?? random.pick(zones);
    const isLabelled = sort === 'zoned';
    claims.push({
      ...claim,
      volume: `volume-${name}`,
      bound: true,
      ...(sort === 'once' && { accessModes: ['ReadWriteOncePod'] }),
    });
    volumes.push({
      name: `volume-${name}`,
      labels: isLabelled ? { [zone]: where } : {},
      storageClass: 'everywhere',
      capacity: Gi,
      accessModes: sort === 'once' ? ['ReadWriteOncePod'] : ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      available: false,
      terminating: false,
      claim: { namespace: 'default', name, uid: name },
      ...(isLabelled
        ? { zones: [{ key: zone, operator: 'In', values: [where] }] }
        : sort === 'bound' && { nodeAffinity: inZone(where) }),
    });
    return name;
  };
  return { claims, volumes, claimFor };
}
