import { describeAmount, type Resources } from '../../shared/core/cluster/resources.ts';

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** An age: 45s, 12m, 3h, 5d. */
export function age(at: number | undefined, now: number): string | undefined {
  if (at === undefined) return undefined;
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  const [unit, size] = units.find(([, one]) => seconds >= 2 * one) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

export const clock = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

export const amounts = (resources: Resources): string =>
  Object.entries(resources)
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) => describeAmount(name, amount))
    .join(', ') || 'nothing';

/** How much of it is asked for. */
export function share(
  requested: Resources | undefined,
  resources: Resources,
  name: string,
): string | undefined {
  const size = resources[name];
  if (!size || !requested) return undefined;
  return `${Math.round((100 * (requested[name] ?? 0)) / size)}%`;
}
