/**
 * Coalesces concurrent calls: calls during the gather delay, or while a run is in progress, share the next
 * run, which starts afterwards and so sees what caused them.
 */
export function coalesce<Value>(
  gather: () => Promise<void>,
  work: () => Promise<Value>,
): () => Promise<Value> {
  let gathering: Promise<Value> | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return () => {
    gathering ??= Promise.all([gather(), running]).then(() => {
      gathering = undefined;
      const result = work();
      // Callers of the run get its error; the next run only waits for its end.
      running = result.catch(() => undefined);
      return result;
    });
    return gathering;
  };
}

/** The first event of a process skips the gather delay: start-up already took longer. */
export function skipFirst(wait: () => Promise<void>): () => Promise<void> {
  let isFirst = true;
  return async () => {
    if (!isFirst) await wait();
    isFirst = false;
  };
}
