/**
 * However many ask, one works for all of them: who asks while others gather, or while the last run is under
 * way, shares the next run, which begins afterwards and so sees what made them ask.
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
      // Whoever shares the run gets its error; the next run only waits for its end.
      running = result.catch(() => undefined);
      return result;
    });
    return gathering;
  };
}

/** Whoever a process was started for need not wait: starting it took longer, and what belongs together is there. */
export function skipFirst(wait: () => Promise<void>): () => Promise<void> {
  let isFirst = true;
  return async () => {
    if (!isFirst) await wait();
    isFirst = false;
  };
}
