import type { Deps } from '../../functions/deps.ts';
import { normalMac, renderScript } from '../../shared/core/machine/boot.ts';
import { HttpError } from '../../shared/server/http-response.ts';
import type { Route } from '../../shared/server/routes.ts';
import { appendBootProgress } from '../../shared/state/machine-writes.ts';

const path = '/boot/';

/** How long addresses are cached: the route is open, and requests must not read the inventory each time. */
const believedMs = 5_000;

/**
 * GET /boot/<mac> answers iPXE with the script of the machine's boot profile. Without a token, because firmware
 * has none: what it tells is of the inventory, and nothing of it is secret.
 */
export function bootRoute({ inventory, clock, log }: Pick<Deps, 'inventory' | 'clock' | 'log'>): Route {
  let known: Promise<Map<string, string>> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const machineWith = async (mac: string): Promise<string | undefined> => {
    if (!known || clock.monotonic() - readAt >= believedMs) {
      readAt = clock.monotonic();
      known = inventory
        .machines()
        .then((machines) => new Map(machines.flatMap(({ spec }) => addressOf(spec.macAddress, spec.name))));
    }
    return (await known.catch(forget)).get(mac);
  };
  const forget = (error: unknown): never => {
    known = undefined;
    throw error;
  };

  return {
    method: 'GET',
    path: `${path}*`,
    open: true,
    async respond({ request }) {
      const mac = normalMac(decoded(request.url?.split('?', 1)[0]?.slice(path.length) ?? ''));
      if (!mac) throw new HttpError(400, 'write a MAC address: GET /boot/52:54:00:12:34:56');
      const name = await machineWith(mac);
      const record = name === undefined ? undefined : await inventory.machine(name);
      const profile = record?.spec.bootProfile;
      const script = profile && (await inventory.settings()).bootProfiles[profile];
      if (!record || !profile || script === undefined)
        throw new HttpError(404, `no machine with a boot profile has the address ${mac}`);
      const rendered = renderScript(script, record.spec);
      if (!rendered.ok) throw new HttpError(409, rendered.why);
      const { operation } = record.status;
      if (operation && request.method === 'GET')
        await appendBootProgress(inventory, operation, 'asked for its boot script', clock.now());
      log.info(
        { step: 'boot', machine: name, profile, text: `boots ${profile} from the network` },
        'boot script served',
      );
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
        body: rendered.text,
      };
    },
  };
}

/** Empty where the escapes are malformed: no address, then. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}

const addressOf = (mac: string | undefined, name: string): [string, string][] => {
  const normal = mac === undefined ? undefined : normalMac(mac);
  return normal === undefined ? [] : [[normal, name]];
};
