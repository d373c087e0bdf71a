import type { Resources } from '../../shared/core/cluster/resources.ts';

const units = [
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
] as const;

/** Amounts as Kubernetes quantities: exact, in the largest possible unit. */
export const quantities = (resources: Resources): Record<string, string> =>
  Object.fromEntries(Object.entries(resources).map(([name, amount]) => [name, quantity(name, amount)]));

function quantity(name: string, amount: number): string {
  if (name === 'cpu') return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`;
  const unit = /memory|storage/.test(name) && amount > 0 && units.find(([, size]) => amount % size === 0);
  return unit ? `${amount / unit[1]}${unit[0]}` : String(amount);
}
