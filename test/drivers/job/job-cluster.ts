import type { JobState, Jobs } from '../../../shared/ports/kubernetes-objects.ts';
import { PowerError } from '../../../shared/ports/power.ts';

interface Made {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly manifest: Readonly<Record<string, unknown>>;
}

export interface JobCluster {
  readonly jobs: Jobs;
  /** Every Job and CronJob, in the order they were made. */
  readonly made: Made[];
  /** What `read` says of each of them. */
  state: JobState;
  latest: JobState | undefined;
  fault: 'silent' | 'gone' | undefined;
}

/** A cluster that carries every Job out at once. */
export function startJobs(carryOut: (verb: string) => void = () => undefined): JobCluster {
  const reach = async (): Promise<void> => {
    if (cluster.fault === 'silent') await new Promise(() => undefined);
    if (cluster.fault === 'gone')
      throw new PowerError('unreachable', 'the Kubernetes API server does not answer (ECONNREFUSED)');
  };
  const find = (name: string) => cluster.made.find((job) => job.name === name);
  const cluster: JobCluster = {
    made: [],
    state: { phase: 'succeeded' },
    latest: undefined,
    fault: undefined,
    jobs: {
      async ensure(namespace, manifest) {
        await reach();
        const { name, labels } = manifest.metadata as { name: string; labels: Record<string, string> };
        if (find(name)) return;
        cluster.made.push({ name, namespace, manifest });
        if (manifest.kind === 'Job') carryOut(labels['bamel.dev/purpose'] ?? '');
      },
      async read(_, name) {
        await reach();
        return find(name) && cluster.state;
      },
      async latest() {
        await reach();
        return cluster.latest;
      },
    },
  };
  return cluster;
}
