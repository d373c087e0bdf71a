/** Waits until the check passes (returns without throwing), and fails with its last error when it never does. */
export async function eventually<Value>(
  check: () => Value | Promise<Value>,
  withinMs = 30_000,
): Promise<Value> {
  const until = Date.now() + withinMs;
  for (;;)
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}
