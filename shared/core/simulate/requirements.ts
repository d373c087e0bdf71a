import type { Labels, NodeTerm, Requirement } from '../cluster/cluster.ts';

/** A label's value; names such as "constructor" are labels like any other. */
export const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

export function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return integer(value) > integer(values[0]);
    case 'Lt':
      return integer(value) < integer(values[0]);
    default:
      return false;
  }
}

/** NaN, which no comparison holds for, when it is none. */
export const integer = (text: string | undefined): number =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;

/** No selector selects nothing, an empty one everything. */
export const selects = (selector: readonly Requirement[] | undefined, labels: Labels): boolean =>
  selector?.every((requirement) => holds(requirement, labels)) ?? false;

export function termHolds({ labels, fields }: NodeTerm, node: Labels, name: string): boolean {
  if (labels.length === 0 && fields.length === 0) return false;
  return (
    labels.every((requirement) => holds(requirement, node)) &&
    fields.every((requirement) => holds(requirement, { 'metadata.name': name }))
  );
}

export const describeTerm = ({ labels, fields }: NodeTerm): string =>
  [...labels, ...fields].map(describeRequirement).join(', ') || 'nothing';

export const describeSelector = (selector: readonly Requirement[] | undefined): string =>
  selector === undefined
    ? 'no pod'
    : selector.length === 0
      ? 'every pod'
      : selector.map(describeRequirement).join(', ');

const words: Readonly<Record<string, (key: string, values: readonly string[]) => string>> = {
  In: (key, values) => (values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(', ')})`),
  NotIn: (key, values) =>
    values.length === 1 ? `${key}≠${values[0]}` : `${key} not in (${values.join(', ')})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `no ${key}`,
  Gt: (key, [value]) => `${key} > ${value}`,
  Lt: (key, [value]) => `${key} < ${value}`,
};

export const describeRequirement = ({ key, operator, values }: Requirement): string =>
  words[operator]?.(key, values) ?? `${key} ${operator} ${values.join(', ')}`;
