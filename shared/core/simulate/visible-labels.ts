import type { Labels, NodeTerm, Requirement } from '../cluster/cluster.ts';
import { labelOf } from './requirements.ts';

/** Which labels anybody's selector can tell apart: everything else about labels makes no difference. */
export interface Asked {
  /** Per key the values that are named somewhere. */
  readonly values: Map<string, Set<string>>;
  /** Keys that are compared with numbers: every value may make a difference. */
  readonly whole: Set<string>;
  /** Grows whenever something that was alike before may no longer be. */
  version: number;
}

export const createAsked = (): Asked => ({ values: new Map(), whole: new Set(), version: 0 });

export function ask(asked: Asked, { key, operator, values }: Requirement): void {
  let known = asked.values.get(key);
  if (!known) {
    known = new Set();
    asked.values.set(key, known);
    asked.version += 1;
  }
  if ((operator === 'Gt' || operator === 'Lt') && !asked.whole.has(key)) {
    asked.whole.add(key);
    asked.version += 1;
  }
  for (const value of values) {
    if (known.has(value)) continue;
    known.add(value);
    asked.version += 1;
  }
}

/** The node's name is asked for like a label. */
export const nodeName = 'metadata.name';

export function askTerms(asked: Asked, terms: readonly NodeTerm[] = []): void {
  for (const { labels, fields } of terms)
    for (const requirement of [...labels, ...fields]) ask(asked, requirement);
}

export function askLabels(asked: Asked, labels: Labels): void {
  for (const [key, value] of Object.entries(labels)) ask(asked, { key, operator: 'In', values: [value] });
}

/** Stands for every value that nobody named. No label value looks like it. */
const other = '*';

/** Equal for nodes whose name and labels make no difference to anybody. No label has a line break. */
export function visibleText(
  { values, whole }: Asked,
  labelAt: (key: string) => string | undefined,
  name: string,
): string {
  let text = '';
  for (const [key, named] of values) {
    const value = key === nodeName ? name : labelAt(key);
    text += value === undefined ? '\n' : named.has(value) || whole.has(key) ? `=${value}\n` : `${other}\n`;
  }
  return text;
}

/** The labels as far as they make a difference. */
export function visible(asked: Asked, labels: Labels): Labels {
  const seen: Record<string, string> = {};
  for (const [key, named] of asked.values) {
    const value = labelOf(labels, key);
    if (value !== undefined) seen[key] = named.has(value) || asked.whole.has(key) ? value : other;
  }
  return seen;
}
