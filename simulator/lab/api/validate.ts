import type { z } from 'zod';
import { sameJson } from './json.ts';
import type {
  Container,
  DisruptionBudgetSpec,
  Draft,
  KubeObject,
  Pod,
  PodSpec,
  Workload,
  WorkloadSpec,
} from './objects.ts';
import type { ResourceType } from './resource-types.ts';
import { matchLabels } from './selectors.ts';
import type { Cause } from './status-error.ts';

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const nameRules = {
  subdomain: {
    pattern: new RegExp(`^${subdomain}$`),
    longest: 253,
    why: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
  },
  label: {
    pattern: new RegExp(`^${label}$`),
    longest: 63,
    why: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  },
  path: {
    pattern: /^(?!\.{1,2}$)[^/%]+$/,
    longest: 253,
    why: "may not be '.' or '..', nor contain '/' or '%'",
  },
};

const required = (field: string, message = ''): Cause => ({
  reason: 'FieldValueRequired',
  message: `Required value${message ? `: ${message}` : ''}`,
  field,
});
const wrong = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});
const refused = (field: string, why: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

export function nameCauses(type: ResourceType, name: string | undefined): Cause[] {
  if (!name) return [required('metadata.name', 'name or generateName is required')];
  const rule = nameRules[type.names ?? 'subdomain'];
  if (name.length > rule.longest)
    return [wrong('metadata.name', name, `must be no more than ${rule.longest} characters`)];
  return rule.pattern.test(name) ? [] : [wrong('metadata.name', name, rule.why)];
}

function podCauses(spec: PodSpec | undefined, path: string): Cause[] {
  if (!spec?.containers?.length) return [required(`${path}.containers`)];
  const seen = new Set<string>();
  return spec.containers.flatMap(({ name, image }, index) => {
    const field = `${path}.containers[${index}]`;
    const causes: Cause[] = [];
    if (!name) causes.push(required(`${field}.name`));
    else if (seen.has(name))
      causes.push({
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: "${name}"`,
        field: `${field}.name`,
      });
    if (!image) causes.push(required(`${field}.image`));
    seen.add(name ?? '');
    return causes;
  });
}

function workloadCauses(spec: WorkloadSpec, selectorNeeded: boolean): Cause[] {
  const causes = podCauses(spec.template?.spec, 'spec.template.spec');
  if (!selectorNeeded) return causes;
  if (!spec.selector) return [required('spec.selector'), ...causes];
  const labels = spec.template?.metadata?.labels ?? {};
  // Without this a controller would make pods for ever that it does not recognise as its own.
  if (!matchLabels(spec.selector)(labels))
    causes.unshift(
      wrong('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'),
    );
  return causes;
}

function disruptionBudgetCauses({
  minAvailable,
  maxUnavailable,
}: z.infer<typeof DisruptionBudgetSpec>): Cause[] {
  if (minAvailable === undefined || maxUnavailable === undefined) return [];
  return [
    wrong('spec', { minAvailable, maxUnavailable }, 'minAvailable and maxUnavailable cannot be both set'),
  ];
}

/** Each kind below reads only the part that its schema has checked already. */
type AnySpec = PodSpec & WorkloadSpec & z.infer<typeof DisruptionBudgetSpec>;

const specRules: Readonly<Record<string, (spec: AnySpec) => Cause[]>> = {
  Pod: (spec) => podCauses(spec, 'spec'),
  Deployment: (spec) => workloadCauses(spec, true),
  ReplicaSet: (spec) => workloadCauses(spec, true),
  DaemonSet: (spec) => workloadCauses(spec, true),
  StatefulSet: (spec) => workloadCauses(spec, true),
  Job: (spec) => workloadCauses(spec, false),
  PodDisruptionBudget: disruptionBudgetCauses,
};

/** Of an Event with an eventTime, as ours are: what must be there, and how many bytes it may have. */
const eventTexts: Readonly<Record<string, { readonly longest: number; readonly needed: boolean }>> = {
  reportingComponent: { longest: 253, needed: true },
  reportingInstance: { longest: 128, needed: true },
  action: { longest: 128, needed: true },
  reason: { longest: 128, needed: true },
  message: { longest: 1024, needed: false },
};

function eventCauses(event: Readonly<Record<string, unknown>>): Cause[] {
  if (!event.eventTime) return [];
  return Object.entries(eventTexts).flatMap(([field, { longest, needed }]) => {
    const text = event[field] ?? '';
    if (text === '') return needed ? [required(field)] : [];
    const tooLong = typeof text === 'string' && Buffer.byteLength(text) > longest;
    return tooLong ? [wrong(field, '', `can have at most ${longest} characters`)] : [];
  });
}

export function specCauses(type: ResourceType, object: KubeObject | Draft): Cause[] {
  if (type.kind === 'Event') return eventCauses({ ...object });
  return specRules[type.kind]?.((object.spec ?? {}) as AnySpec) ?? [];
}

/** What of a running pod may still change; everything else was decided when it was made. */
function fixedPart({ spec }: Pod, gated: boolean) {
  const { tolerations, activeDeadlineSeconds, terminationGracePeriodSeconds, schedulingGates, ...rest } =
    spec;
  const imageless = ({ image, resources, ...container }: Container) => container;
  return {
    ...rest,
    // Gated pods may still be told where to go.
    ...(gated ? { nodeSelector: undefined, affinity: undefined } : {}),
    containers: rest.containers.map(imageless),
    initContainers: rest.initContainers?.map(imageless),
  };
}

const fixedRules: Readonly<Record<string, (previous: KubeObject, next: KubeObject) => Cause[]>> = {
  Pod: (previous, next) => {
    const gated = Boolean((previous as Pod).spec.schedulingGates?.length);
    if (sameJson(fixedPart(previous as Pod, gated), fixedPart(next as Pod, gated))) return [];
    return [
      refused(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ),
    ];
  },
  ...Object.fromEntries(
    ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job'].map((kind) => [
      kind,
      (previous: KubeObject, next: KubeObject) => {
        const before = (previous as Workload).spec.selector;
        const after = (next as Workload).spec.selector;
        return sameJson(before, after) ? [] : [wrong('spec.selector', after, 'field is immutable')];
      },
    ]),
  ),
};

export function changeCauses(type: ResourceType, previous: KubeObject, next: KubeObject): Cause[] {
  const causes = fixedRules[type.kind]?.(previous, next) ?? [];
  const known = previous.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
  if (previous.metadata.deletionTimestamp && added.length)
    causes.push(
      refused(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => `"${one}"`).join(', ')}}`,
      ),
    );
  return causes;
}

export const versionNeeded: Cause = {
  reason: 'FieldValueInvalid',
  message: 'Invalid value: 0: must be specified for an update',
  field: 'metadata.resourceVersion',
};
