/**
 * Amounts by resource name in one unit each: cpu in millicores, memory and storage in bytes,
 * everything else (pods, GPUs, extended resources) as a count.
 */
export type Resources = Readonly<Record<string, number>>;

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity ("250m", "32Gi", "1e3") as a number, or undefined when it is none. */
export function parseQuantity(text: string | number): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(String(text));
  if (!match) return undefined;
  return Number(match[1]) * (suffixes[match[2] ?? ''] ?? Number.NaN);
}

/** Kubernetes quantities to our units. Rounded up, as the scheduler does; what is no quantity counts as 0. */
export function fromQuantities(
  quantities: Readonly<Record<string, string | number | undefined>> | undefined,
): Resources {
  const result: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(quantities ?? {})) {
    if (quantity === undefined) continue;
    const amount = parseQuantity(quantity) ?? 0;
    result[name] = roundUp(name === 'cpu' ? amount * 1000 : amount);
  }
  return result;
}

/** Resources as people write them in a machine's description. */
export function toDescribed({
  cpu = 0,
  memory = 0,
  pods,
  'nvidia.com/gpu': gpu,
  'ephemeral-storage': storage,
  ...customResources
}: Resources) {
  return {
    cpu: cpu / 1000,
    memory,
    ...(gpu && { gpu }),
    ...(storage && { storage }),
    ...(pods && { pods }),
    ...(Object.keys(customResources).length > 0 && { customResources }),
  };
}

/** 0.009 × 1000 is 9.000000000000002 to a computer: that is no more than 9. */
function roundUp(amount: number): number {
  const nearest = Math.round(amount);
  return Math.abs(amount - nearest) < 1e-9 ? nearest : Math.ceil(amount);
}

export function add(a: Resources, b: Resources): Resources {
  const sum: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + amount;
  return sum;
}

export function subtract(a: Resources, b: Resources): Resources {
  const rest: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) rest[name] = (rest[name] ?? 0) - amount;
  return rest;
}

export function larger(a: Resources, b: Resources): Resources {
  const result: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = Math.max(result[name] ?? 0, amount);
  return result;
}

/** Why `wanted` does not fit into `free`, or undefined when it does. */
export function shortage(wanted: Resources, free: Resources): string | undefined {
  for (const [name, amount] of Object.entries(wanted)) {
    const available = free[name] ?? 0;
    if (amount > 0 && amount > available)
      return `${describeAmount(name, amount)} wanted, ${describeAmount(name, Math.max(0, available))} free`;
  }
  return undefined;
}

/** "4 cpu", "32Gi memory", "1 nvidia.com/gpu". */
export function describeAmount(name: string, amount: number): string {
  if (name === 'cpu') return `${amount / 1000} cpu`;
  if (name === 'memory' || name === 'ephemeral-storage') return `${describeBytes(amount)} ${name}`;
  return `${amount} ${name}`;
}

function describeBytes(bytes: number): string {
  for (const unit of ['Ti', 'Gi', 'Mi', 'Ki']) {
    const size = suffixes[unit] ?? 1;
    if (bytes >= size) return `${Math.round((bytes / size) * 10) / 10}${unit}`;
  }
  return `${bytes}`;
}
