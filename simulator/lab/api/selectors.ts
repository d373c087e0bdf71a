import type { KubeObject, LabelSelector } from './objects.ts';
import type { ResourceType } from './resource-types.ts';
import { badRequest } from './status-error.ts';

export type Matcher = (object: KubeObject) => boolean;
type Labels = Readonly<Record<string, string>>;
type Check = (value: string | undefined) => boolean;

const everything: Matcher = () => true;

const numeric = (value: string | undefined) =>
  value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;

/** The operators of label selectors and node selectors, in one table. */
const operators: Readonly<Record<string, (values: readonly string[]) => Check>> = {
  In: (values) => (value) => value !== undefined && values.includes(value),
  NotIn: (values) => (value) => value === undefined || !values.includes(value),
  Exists: () => (value) => value !== undefined,
  DoesNotExist: () => (value) => value === undefined,
  Gt: (values) => (value) => (numeric(value) ?? Number.NaN) > Number(values[0]),
  Lt: (values) => (value) => (numeric(value) ?? Number.NaN) < Number(values[0]),
};

/** One requirement on a value; an unknown operator matches nothing. */
export function requirement(operator: string, values: readonly string[] = []): Check {
  return operators[operator]?.(values) ?? (() => false);
}

export type LabelMatcher = (labels: Labels | undefined) => boolean;

/** A LabelSelector object; as in Kubernetes an empty one matches everything, a missing one nothing. */
export function matchLabels(selector: LabelSelector | undefined): LabelMatcher {
  if (!selector) return () => false;
  const checks: [string, Check][] = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]): [string, Check] => [
      key,
      requirement('In', [value]),
    ]),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values }): [string, Check] => [
      key,
      requirement(operator, values),
    ]),
  ];
  return (labels) => checks.every(([key, check]) => check(labels?.[key]));
}

const setBased = /^([^\s!=(),]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equality = /^([^\s!=(),]+)\s*(==|=|!=)\s*([^\s!=(),]*)$/;
const existence = /^(!?)\s*([^\s!=(),]+)$/;

function parseRequirement(text: string): [string, Check] {
  const set = setBased.exec(text);
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return [set[1] ?? '', requirement(set[2] === 'in' ? 'In' : 'NotIn', values)];
  }
  const equal = equality.exec(text);
  if (equal) return [equal[1] ?? '', requirement(equal[2] === '!=' ? 'NotIn' : 'In', [equal[3] ?? ''])];
  const exists = existence.exec(text);
  if (exists) return [exists[2] ?? '', requirement(exists[1] ? 'DoesNotExist' : 'Exists')];
  throw badRequest(
    `unable to parse requirement: found '${text}', expected: a label selector such as app=web,tier!=db`,
  );
}

/** `app=web,tier in (a,b),!canary` */
export function parseLabelSelector(text: string | null): Matcher {
  if (!text?.trim()) return everything;
  const checks = text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim()));
  return ({ metadata }) => checks.every(([key, check]) => check(metadata.labels?.[key]));
}

/** Fields that are absent from an object until somebody sets them still have a value to select on. */
const absent: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.replicas': '0',
  'status.successful': '0',
};

function fieldOf(object: KubeObject, path: string): string {
  if (path === 'name') return object.metadata.name;
  // The two selectors whose name is not the path of the field.
  const actual =
    path === 'source' ? 'source.component' : path === 'status.successful' ? 'status.succeeded' : path;
  let value: unknown = object;
  for (const part of actual.split('.'))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined;
  return value === undefined ? (absent[path] ?? '') : String(value);
}

/** `spec.nodeName=a,status.phase!=Failed` on the fields the type supports. */
export function parseFieldSelector(type: ResourceType, text: string | null): Matcher {
  if (!text?.trim()) return everything;
  const checks = text.split(',').map((part) => {
    const match = /^([^=!]+?)(!=|==|=)(.*)$/.exec(part.trim());
    if (!match) throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`);
    const [, field = '', operator, value] = match;
    const supported = field === 'metadata.name' || (field === 'metadata.namespace' && type.namespaced);
    const path = supported
      ? field
      : type.alias
        ? type.alias.fields?.[field]
        : type.fields?.find((own) => own === field);
    if (path === undefined) throw badRequest(`field label not supported: ${field}`);
    return { path, value, equal: operator !== '!=' };
  });
  return (object) => checks.every(({ path, value, equal }) => (fieldOf(object, path) === value) === equal);
}

export function both(a: Matcher, b: Matcher): Matcher {
  if (a === everything) return b;
  return b === everything ? a : (object) => a(object) && b(object);
}
