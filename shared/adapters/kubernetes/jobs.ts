import type { V1CronJob, V1Job } from '@kubernetes/client-node';
import { bamelKeys } from '../../core/cluster/names.ts';
import type { JobState, Jobs } from '../../ports/kubernetes-objects.ts';
import { PowerError } from '../../ports/power.ts';
import type { KubeClient } from './client.ts';
import { ifFound, toPowerError } from './errors.ts';
import { ApiException } from './transport.ts';

const logLines = 20;
const logBytes = 4_096;

/** Jobs through the Kubernetes API. */
export function kubeJobs(kube: KubeClient): Jobs {
  const { batch } = kube.apis;
  /** Runs the work in the given namespace or our own; a failure becomes a PowerError that names the object. */
  const inNamespace = async <Value>(
    wanted: string | undefined,
    nameOf: (namespace: string) => string,
    work: (namespace: string) => Promise<Value>,
  ): Promise<Value> => {
    let namespace = wanted ?? 'our own namespace';
    try {
      namespace = wanted ?? (await kube.namespace());
      return await work(namespace);
    } catch (error) {
      throw toPowerError(nameOf(namespace), error);
    }
  };
  return {
    async ensure(wanted, manifest) {
      const { name } = manifest.metadata as { name: string };
      const nameOf = (namespace: string) => `${manifest.kind} ${namespace}/${name}`;
      await inNamespace(wanted, nameOf, (namespace) =>
        manifest.kind === 'CronJob'
          ? ensureCronJob(batch, namespace, name, manifest as unknown as V1CronJob)
          : ensureJob(batch, namespace, name, manifest as unknown as V1Job),
      );
    },
    async read(wanted, name) {
      const nameOf = (namespace: string) => `Job ${namespace}/${name}`;
      return inNamespace(wanted, nameOf, async (namespace) => {
        const job = await ifFound(batch.readNamespacedJob({ namespace, name }));
        return job && stateOf(kube, job);
      });
    },
    async latest(wanted, labels) {
      const labelSelector = Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
      const nameOf = (namespace: string) => `Jobs in ${namespace}`;
      return inNamespace(wanted, nameOf, async (namespace) => {
        const { items } = await batch.listNamespacedJob({ namespace, labelSelector });
        const [newest] = items
          .filter((job) => endOf(job) !== undefined)
          .sort((one, other) => (endOf(other) ?? 0) - (endOf(one) ?? 0));
        return newest && stateOf(kube, newest);
      });
    },
  };
}

type Batch = KubeClient['apis']['batch'];

async function ensureJob(batch: Batch, namespace: string, name: string, body: V1Job): Promise<void> {
  try {
    await batch.createNamespacedJob({ namespace, body });
  } catch (error) {
    if (!(error instanceof ApiException) || error.code !== 409) throw error;
    const there = await batch.readNamespacedJob({ namespace, name });
    const operation = (job: V1Job) => job.metadata?.annotations?.[bamelKeys.operation];
    if (operation(there) !== operation(body))
      throw new PowerError('config', `Job ${namespace}/${name} is there already, and not of this operation`);
  }
}

async function ensureCronJob(batch: Batch, namespace: string, name: string, body: V1CronJob): Promise<void> {
  const there = await ifFound(batch.readNamespacedCronJob({ namespace, name }));
  const madeFrom = (job: V1CronJob) => job.metadata?.annotations?.[bamelKeys.madeFrom];
  if (!there) await batch.createNamespacedCronJob({ namespace, body });
  else if (madeFrom(there) !== madeFrom(body))
    await batch.replaceNamespacedCronJob({ namespace, name, body });
}

const conditionOf = ({ status }: V1Job, wanted: 'Complete' | 'Failed') =>
  status?.conditions?.find((condition) => condition.type === wanted && condition.status === 'True');

const endOf = (job: V1Job): number | undefined =>
  timeOf((conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed'))?.lastTransitionTime);

/** Typed as a date, but it is the text that came. */
const timeOf = (at: Date | undefined): number | undefined => at && new Date(at).getTime();

async function stateOf(kube: KubeClient, job: V1Job): Promise<JobState> {
  const finishedAt = endOf(job);
  if (conditionOf(job, 'Complete')) return { phase: 'succeeded', finishedAt };
  const failed = conditionOf(job, 'Failed');
  if (!failed) return { phase: 'running' };
  const message = [failed.reason, failed.message].filter(Boolean).join(': ');
  return { phase: 'failed', message, log: await logOf(kube, job), finishedAt };
}

/** The end of what its last pod said. Without it the Job has still failed: a log that is gone is no error. */
async function logOf(kube: KubeClient, { metadata }: V1Job): Promise<string | undefined> {
  const namespace = metadata?.namespace ?? (await kube.namespace());
  try {
    const labelSelector = `batch.kubernetes.io/job-name=${metadata?.name}`;
    const { items } = await kube.apis.core.listNamespacedPod({ namespace, labelSelector });
    const startOf = (pod: (typeof items)[number]) => timeOf(pod.metadata?.creationTimestamp) ?? 0;
    const [last] = items.sort((one, other) => startOf(other) - startOf(one));
    const name = last?.metadata?.name;
    const container = last?.spec?.containers[0]?.name;
    if (!name || !container) return undefined;
    // The one answer that is no JSON.
    const text = await kube.ask({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/log`,
      query: { container, tailLines: logLines, limitBytes: logBytes },
    });
    return text || undefined;
  } catch (error) {
    if (error instanceof ApiException) return undefined;
    throw error;
  }
}
