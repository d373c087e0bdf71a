import { type Clock, type Credentials, type DriverDeps, PowerError } from '../ports.ts';
import { asked, ifThere, type KubeAccess } from './kube-access.ts';

/** Many machines share a Secret, and a sweep looks at all of them at once. */
const keptMs = 5_000;

/** Credentials from the Secrets of our own namespace, through the API: where no folder is mounted. */
export function credentialsFromSecrets(
  access: () => Promise<KubeAccess>,
  clock: Pick<Clock, 'monotonic'>,
): DriverDeps['credentials'] {
  const kept = new Map<string, { readonly read: Promise<Credentials>; readonly at: number }>();
  return (name) => {
    const known = kept.get(name);
    if (known && clock.monotonic() - known.at < keptMs) return known.read;
    const read = readSecret(access, name);
    kept.set(name, { read, at: clock.monotonic() });
    // What failed is asked for again by whoever comes next.
    read.catch(() => kept.delete(name));
    return read;
  };
}

async function readSecret(access: () => Promise<KubeAccess>, name: string): Promise<Credentials> {
  const kube = await access();
  const { namespace } = kube;
  return asked(kube, `Secret ${namespace}/${name}`, async () => {
    const core = kube.api(kube.client.CoreV1Api);
    const secret = await ifThere(kube, core.readNamespacedSecret({ namespace, name }));
    if (!secret)
      throw new PowerError(
        'config',
        `there is no Secret ${namespace}/${name}, which bmcCredentials names: make it with the keys username and password, or set BAMEL_CREDENTIALS_DIR`,
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
  });
}
