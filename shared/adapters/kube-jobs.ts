import type { V1CronJob, V1Job } from '@kubernetes/client-node';
import { type JobState, type Jobs, PowerError } from '../ports.ts';
import { asked, ifThere, type KubeAccess } from './kube-access.ts';

const logLines = 20;
const logBytes = 4_096;

/** Jobs through the Kubernetes API. */
export function kubeJobs(access: () => Promise<KubeAccess>): Jobs {
  return {
    async ensure(wanted, manifest) {
      const kube = await access();
      const namespace = wanted ?? kube.namespace;
      const { name } = manifest.metadata as { name: string };
      await asked(kube, `${manifest.kind} ${namespace}/${name}`, () =>
        manifest.kind === 'CronJob'
          ? ensureCronJob(kube, namespace, name, manifest as unknown as V1CronJob)
          : ensureJob(kube, namespace, name, manifest as unknown as V1Job),
      );
    },
    async read(wanted, name) {
      const kube = await access();
      const namespace = wanted ?? kube.namespace;
      return asked(kube, `Job ${namespace}/${name}`, async () => {
        const job = await ifThere(
          kube,
          kube.api(kube.client.BatchV1Api).readNamespacedJob({ namespace, name }),
        );
        return job && stateOf(kube, job);
      });
    },
    async latest(wanted, labels) {
      const kube = await access();
      const namespace = wanted ?? kube.namespace;
      const labelSelector = Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',');
      return asked(kube, `Jobs in ${namespace}`, async () => {
        const { items } = await kube
          .api(kube.client.BatchV1Api)
          .listNamespacedJob({ namespace, labelSelector });
        const [newest] = items
          .filter((job) => endOf(job) !== undefined)
          .sort((one, other) => (endOf(other) ?? 0) - (endOf(one) ?? 0));
        return newest && stateOf(kube, newest);
      });
    },
  };
}

async function ensureJob(kube: KubeAccess, namespace: string, name: string, body: V1Job): Promise<void> {
  const batch = kube.api(kube.client.BatchV1Api);
  try {
    await batch.createNamespacedJob({ namespace, body });
  } catch (error) {
    if (!(error instanceof kube.client.ApiException) || error.code !== 409) throw error;
    const there = await batch.readNamespacedJob({ namespace, name });
    const operation = (job: V1Job) => job.metadata?.annotations?.['bamel.dev/operation'];
    if (operation(there) !== operation(body))
      throw new PowerError('config', `Job ${namespace}/${name} is there already, and not of this operation`);
  }
}

async function ensureCronJob(
  kube: KubeAccess,
  namespace: string,
  name: string,
  body: V1CronJob,
): Promise<void> {
  const batch = kube.api(kube.client.BatchV1Api);
  const there = await ifThere(kube, batch.readNamespacedCronJob({ namespace, name }));
  const madeFrom = (job: V1CronJob) => job.metadata?.annotations?.['bamel.dev/made-from'];
  if (!there) await batch.createNamespacedCronJob({ namespace, body });
  else if (madeFrom(there) !== madeFrom(body))
    await batch.replaceNamespacedCronJob({ namespace, name, body });
}

const conditionOf = ({ status }: V1Job, wanted: 'Complete' | 'Failed') =>
  status?.conditions?.find((condition) => condition.type === wanted && condition.status === 'True');

const endOf = (job: V1Job): number | undefined =>
  (conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed'))?.lastTransitionTime?.getTime();

async function stateOf(kube: KubeAccess, job: V1Job): Promise<JobState> {
  const finishedAt = endOf(job);
  if (conditionOf(job, 'Complete')) return { phase: 'succeeded', finishedAt };
  const failed = conditionOf(job, 'Failed');
  if (!failed) return { phase: 'running' };
  const message = [failed.reason, failed.message].filter(Boolean).join(': ');
  return { phase: 'failed', message, log: await logOf(kube, job), finishedAt };
}

/** The end of what its last pod said. Without it the Job has still failed: a log that is gone is no error. */
async function logOf(kube: KubeAccess, { metadata }: V1Job): Promise<string | undefined> {
  const namespace = metadata?.namespace ?? kube.namespace;
  const core = kube.api(kube.client.CoreV1Api);
  try {
    const labelSelector = `batch.kubernetes.io/job-name=${metadata?.name}`;
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    const startOf = (pod: (typeof items)[number]) => pod.metadata?.creationTimestamp?.getTime() ?? 0;
    const [last] = items.sort((one, other) => startOf(other) - startOf(one));
    const name = last?.metadata?.name;
    const container = last?.spec?.containers[0]?.name;
    if (!name || !container) return undefined;
    const text = await core.readNamespacedPodLog({
      namespace,
      name,
      container,
      tailLines: logLines,
      limitBytes: logBytes,
    });
    return text || undefined;
  } catch (error) {
    if (error instanceof kube.client.ApiException) return undefined;
    throw error;
  }
}
