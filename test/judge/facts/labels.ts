import type {
  Labels,
  NodeTerm,
  Requirement,
  Taint,
  Toleration,
} from '../../../shared/core/cluster/cluster.ts';

/** Label rules as the Kubernetes API documents them, written anew for the judge. */
const numberIn = (text: string | undefined): number =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;

export function requirementHolds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const has = Object.hasOwn(labels, key);
  const value = has ? labels[key] : undefined;
  const listed = value !== undefined && values.includes(value);
  if (operator === 'In') return listed;
  if (operator === 'NotIn') return !listed;
  if (operator === 'Exists') return has;
  if (operator === 'DoesNotExist') return !has;
  if (operator === 'Gt') return numberIn(value) > numberIn(values[0]);
  if (operator === 'Lt') return numberIn(value) < numberIn(values[0]);
  return false;
}

/** An absent selector selects no pod, an empty one selects every pod. */
export const selectorHolds = (selector: readonly Requirement[] | undefined, labels: Labels): boolean =>
  selector?.every((line) => requirementHolds(line, labels)) ?? false;

/** An absent list allows every node; an empty list, or an empty term, allows none. */
export const nodeTermsHold = (
  terms: readonly NodeTerm[] | undefined,
  labels: Labels,
  name: string,
): boolean =>
  terms === undefined ||
  terms.some(
    (term) =>
      term.labels.length + term.fields.length > 0 &&
      term.labels.every((line) => requirementHolds(line, labels)) &&
      term.fields.every((line) => requirementHolds(line, { 'metadata.name': name })),
  );

export const nodeSelectorHolds = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);

function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (operator === 'Gt') return numberIn(taint.value) > numberIn(value);
  if (operator === 'Lt') return numberIn(taint.value) < numberIn(value);
  return key !== undefined && (value ?? '') === (taint.value ?? '');
}

/** The first taint that keeps the pod away; PreferNoSchedule keeps nobody away. */
export const untolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
): Taint | undefined =>
  taints.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  );
