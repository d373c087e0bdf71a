import { createHash } from 'node:crypto';
import { bamelKeys } from '../../core/cluster/names.ts';
import type { MachineSpec } from '../../core/machine/machine.ts';
import { hostIn } from '../common/evidence.ts';
import type { JobOptions, PodTemplate } from './options.ts';

type Manifest = Readonly<Record<string, unknown>>;

/** Named after the operation: asked for twice, it is made once. Always a name that Kubernetes takes. */
export function jobName(operation: string, verb: string): string {
  const name = `${operation}-${verb}`;
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? name : `bamel-${digest(name, 40)}`;
}

/** One for each machine. */
const healthName = (machine: string): string => `bamel-health-${digest(machine, 16)}`;

const digest = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** Labels that identify our Jobs and their machine. */
export const labelsOf = (machine: string, purpose: string): Record<string, string> => ({
  'app.kubernetes.io/managed-by': 'bamel-autoscaler',
  [bamelKeys.machine]: machine,
  [bamelKeys.purpose]: purpose,
});

export function jobManifest(
  spec: MachineSpec,
  options: JobOptions,
  template: PodTemplate,
  operation: string,
  verb: string,
): Manifest {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(operation, verb),
      labels: labelsOf(spec.name, verb),
      annotations: { [bamelKeys.operation]: operation },
    },
    spec: jobSpec(spec, options, template, verb, operation),
  };
}

export function healthManifest(
  spec: MachineSpec,
  options: JobOptions,
  { schedule, template }: NonNullable<JobOptions['healthCheck']>,
): Manifest {
  const job = {
    metadata: { labels: labelsOf(spec.name, 'health') },
    spec: jobSpec(spec, options, template, 'health'),
  };
  const wanted = {
    schedule,
    concurrencyPolicy: 'Forbid',
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 1,
    jobTemplate: job,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: healthName(spec.name),
      labels: labelsOf(spec.name, 'health'),
      // The API server fills in defaults: the hash detects a change of the inventory.
      annotations: { [bamelKeys.madeFrom]: digest(JSON.stringify(wanted), 16) },
    },
    spec: wanted,
  };
}

function jobSpec(
  spec: MachineSpec,
  { deadline, retries, keepFor, serviceAccountName }: JobOptions,
  template: PodTemplate,
  purpose: string,
  operation?: string,
): Manifest {
  // What varies goes through the environment: nothing is put into a command line.
  const facts = {
    BAMEL_MACHINE: spec.name,
    BAMEL_VERB: purpose,
    BAMEL_OPERATION: operation,
    BAMEL_MAC_ADDRESS: spec.macAddress,
    BAMEL_ADDRESS: hostIn(spec.mgmtAddress),
    BAMEL_SYSTEM_UUID: spec.systemUUID,
  };
  const env = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  const { metadata, spec: pod } = template;
  return {
    backoffLimit: retries,
    activeDeadlineSeconds: Math.ceil(deadline / 1_000),
    ttlSecondsAfterFinished: Math.ceil(keepFor / 1_000),
    template: {
      metadata: { ...metadata, labels: { ...metadata?.labels, ...labelsOf(spec.name, purpose) } },
      spec: {
        restartPolicy: 'Never',
        ...(serviceAccountName && { serviceAccountName }),
        ...pod,
        containers: pod.containers.map((container) => ({
          ...container,
          env: [...envOf(container), ...env],
        })),
      },
    },
  };
}

const envOf = (container: { readonly [field: string]: unknown }): readonly unknown[] =>
  Array.isArray(container.env) ? container.env : [];
