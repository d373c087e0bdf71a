/** A Kubernetes Job, as far as a driver needs to know. */
export interface JobState {
  readonly phase: 'running' | 'succeeded' | 'failed';
  readonly message?: string | undefined;
  /** The end of its pod's log, when it failed. */
  readonly log?: string | undefined;
  /** Milliseconds since the epoch; undefined while it runs. */
  readonly finishedAt?: number | undefined;
}

export interface Jobs {
  /** Makes the Job unless one of that name is there already; a CronJob is brought up to date. */
  ensure(namespace: string | undefined, job: Readonly<Record<string, unknown>>): Promise<void>;
  read(namespace: string | undefined, name: string): Promise<JobState | undefined>;
  /** The one that finished last of those with these labels. */
  latest(
    namespace: string | undefined,
    labels: Readonly<Record<string, string>>,
  ): Promise<JobState | undefined>;
}

/** An object of the cluster, as it came. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
  readonly spec?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: Readonly<Record<string, unknown>> | undefined;
  readonly [field: string]: unknown;
}

/** Objects of the cluster, read afresh, by their path: `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME`. Throws PowerError. */
export interface KubeObjects {
  get(path: string, signal: AbortSignal): Promise<KubeObject | undefined>;
  list(path: string, labelSelector: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** Of that name, as it is afterwards; what is there already stays as it is. */
  ensure(path: string, object: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<KubeObject>;
  /** A merge patch. */
  patch(path: string, change: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<KubeObject>;
  /** Asks for it to be deleted; false: it was gone already. */
  remove(path: string, signal: AbortSignal): Promise<boolean>;
}
