/** Where a crash matters most. The kill tests go through all of them. */
export const failpoints = [
  'evaluate-before-intent',
  'evaluate-after-intent-on',
  'power-before-record-on',
  'power-before-command-on',
  'power-after-command-on',
  'power-before-result-on',
  'power-after-result-on',
  'join-before-node',
  'join-after-node',
  'join-after-result',
  'evaluate-after-intent-off',
  'drain-before-cordon',
  'drain-after-cordon',
  'drain-after-eviction',
  'drain-before-result',
  'drain-after-result',
  'power-before-record-soft-off',
  'power-before-command-soft-off',
  'power-after-command-soft-off',
  'power-before-result-off',
  'power-after-result-off',
] as const;

/** Only for machines made on demand. */
export const onDemandFailpoints = ['power-before-release', 'power-after-release'] as const;

/** Only for slices of remote clusters. */
export const remoteFailpoints = ['evaluate-after-resize'] as const;

/** Only for calls of the Cluster Autoscaler. */
export const providerFailpoints = [
  'grow-after-target',
  'grow-after-operation',
  'shrink-after-target',
  'shrink-after-operation',
] as const;

/** Only for custom resources, from creation to deletion. */
export const syncFailpoints = [
  'sync-after-hold',
  'sync-between-writes',
  'sync-after-take-in',
  'sync-after-members',
  'sync-after-status',
  'sync-after-intent',
  'sync-before-removal',
  'sync-after-removal',
  'sync-between-deletes',
  'sync-after-settings',
  'sync-after-release',
] as const;

export type FailpointName =
  | (typeof failpoints)[number]
  | (typeof onDemandFailpoints)[number]
  | (typeof remoteFailpoints)[number]
  | (typeof providerFailpoints)[number]
  | (typeof syncFailpoints)[number];
