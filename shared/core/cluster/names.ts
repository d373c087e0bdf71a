/** Every label, annotation, taint and finalizer of ours, by what it says. */
export const bamelKeys = {
  /** Label: the machine that a node, Job or slice belongs to. */
  machine: 'bamel.dev/machine',
  /** Label: the pool of a node's machine. */
  pool: 'bamel.dev/pool',
  /** Label or annotation of a node, written by its owner: the machine's MAC address. */
  macAddress: 'bamel.dev/mac-address',
  /** Annotation of a node that bamel cordoned: the operation. No other node is ever uncordoned. */
  cordonedBy: 'bamel.dev/cordoned-by',
  /** Label of a node, written by its owner: the kind of GPU. */
  gpu: 'bamel.dev/gpu',
  /** Label of a power Job: what it does. */
  purpose: 'bamel.dev/purpose',
  /** Annotation of a power Job: the operation that it was created for. */
  operation: 'bamel.dev/operation',
  /** Annotation of a health check's CronJob: a digest of the options that it was made from. */
  madeFrom: 'bamel.dev/made-from',
  /** Annotation of a remote slice: when its size was last changed. */
  resizedAt: 'bamel.dev/resized-at',
  /** Finalizer of our custom resources. */
  inventory: 'bamel.dev/inventory',
  /** Annotation of a NodePool: its machines are deleted with it. */
  cascade: 'bamel.dev/cascade',
} as const;
