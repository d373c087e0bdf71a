import type { Clock } from '../../ports/clock.ts';
import { type Credentials, type DriverDeps, PowerError } from '../../ports/power.ts';
import type { KubeClient } from './client.ts';
import { ifFound, toPowerError } from './errors.ts';

/** Many machines share a Secret, and a sweep reads all of them at once. */
const keptMs = 5_000;

/** Credentials from the Secrets of our own namespace, through the API: where no folder is mounted. */
export function credentialsFromSecrets(
  kube: KubeClient,
  clock: Pick<Clock, 'monotonic'>,
): DriverDeps['credentials'] {
  const kept = new Map<string, { readonly read: Promise<Credentials>; readonly at: number }>();
  return (name) => {
    const known = kept.get(name);
    if (known && clock.monotonic() - known.at < keptMs) return known.read;
    const read = readSecret(kube, name);
    kept.set(name, { read, at: clock.monotonic() });
    // A failed read is not cached.
    read.catch(() => kept.delete(name));
    return read;
  };
}

async function readSecret(kube: KubeClient, name: string): Promise<Credentials> {
  let what = `Secret ${name}`;
  try {
    const namespace = await kube.namespace();
    what = `Secret ${namespace}/${name}`;
    const secret = await ifFound(kube.apis.core.readNamespacedSecret({ namespace, name }));
    if (!secret)
      throw new PowerError(
        'config',
        `there is no ${what}, which bmcCredentials names: make it with the keys username and password, or set BAMEL_CREDENTIALS_DIR`,
      );
    return Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [
        key,
        // The end of line that editors add; a blank may belong to a password.
        Buffer.from(value, 'base64')
          .toString()
          .replace(/\r?\n$/, ''),
      ]),
    );
  } catch (error) {
    throw toPowerError(what, error);
  }
}
