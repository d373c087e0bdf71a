/** Callers that ask for a machine while its work is under way share that work: it reads the state as it goes. */
export function singleFlight(
  work: (machine: string, signal: AbortSignal) => Promise<string>,
): (machine: string, signal: AbortSignal) => Promise<string> {
  const underWay = new Map<string, Promise<string>>();
  return (machine, signal) => {
    const shared = underWay.get(machine) ?? work(machine, signal).finally(() => underWay.delete(machine));
    underWay.set(machine, shared);
    return shared;
  };
}

/** Runs the work for every item, a few at a time. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
