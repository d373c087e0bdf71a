import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { Gi } from '../../core/support/builders.ts';
import { zone } from '../generate/templates.ts';

const claim = (name: string, accessMode: string) => ({
  namespace: 'default',
  name,
  uid: name,
  storageClass: '',
  requested: Gi,
  accessModes: [accessMode],
  volumeMode: 'Filesystem',
  volume: name,
  bound: true,
  lost: false,
  terminating: false,
});
const volume = (name: string, where?: string) => ({
  name,
  labels: {},
  storageClass: '',
  capacity: Gi,
  accessModes: [],
  volumeMode: 'Filesystem',
  available: false,
  terminating: false,
  ...(where && {
    nodeAffinity: [{ labels: [{ key: zone, operator: 'In', values: [where] }], fields: [] }],
  }),
});
/** The snapshot with one claim, called disk, whose volume is in the zone. */
export const withDisk = (given: Snapshot, accessMode: string, where?: string): Snapshot => ({
  ...given,
  cluster: {
    ...given.cluster,
    claims: [claim('disk', accessMode)],
    volumes: [volume('disk', where)],
    storageClasses: [],
  },
});
