import { type DriverDeps, PowerError } from '../../ports/power.ts';

const most = 20_000;
const known = new WeakMap<DriverDeps['resolve'], Map<string, string>>();

/**
 * Which system a BMC has, found once: two requests, and two TLS handshakes of a slow BMC, less for every look. Kept for
 * as long as the process connects in the same way, and forgotten as soon as the BMC refuses anything.
 */
export async function withKnownSystem<Value>(
  { resolve }: Pick<DriverDeps, 'resolve'>,
  origin: string,
  find: () => Promise<string>,
  work: (path: string) => Promise<Value>,
): Promise<Value> {
  const systems = known.get(resolve) ?? new Map<string, string>();
  known.set(resolve, systems);
  if (systems.size >= most) systems.clear();
  const path = systems.get(origin) ?? (await find());
  try {
    const value = await work(path);
    systems.set(origin, path);
    return value;
  } catch (error) {
    if (error instanceof PowerError && error.code === 'refused') systems.delete(origin);
    throw error;
  }
}
