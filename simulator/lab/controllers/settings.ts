export interface Settings {
  /** A node not heard of for this long is Unknown. */
  readonly nodeGraceMs: number;
  /** Pods of a node that no longer exists are deleted after this long. */
  readonly podGcMs: number;
  /** Events are forgotten after this long. */
  readonly eventTtlMs: number;
  /** Which of the fitting nodes gets a pod: the emptiest, as Kubernetes does, or the fullest. */
  readonly prefer: 'least-allocated' | 'most-allocated';
}
