/** Places where a crash matters most. The kill tests walk through all of them. */
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

/** Those that only a machine made on demand passes. */
export const onDemandFailpoints = ['power-before-release', 'power-after-release'] as const;

/** Those that only a slice of a remote cluster passes. */
export const remoteFailpoints = ['evaluate-after-resize'] as const;

/** Those that only the Cluster Autoscaler's calls pass. */
export const providerFailpoints = [
  'grow-after-target',
  'grow-after-operation',
  'shrink-after-target',
  'shrink-after-operation',
] as const;

/** Those that only custom resources pass, from when they come to when they go. */
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
