import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import { z } from 'zod';
import type { MachineSpec, Power, PowerVerb } from '../core/machine.ts';
import { type DriverDeps, type PowerDriver, PowerError, type PowerReading } from '../ports.ts';

const Options = z.strictObject({
  /** Which system, where the BMC manages more than one: its @odata.id. */
  system: z.string().startsWith('/').optional(),
  tls: z.strictObject({ caFile: z.string() }).optional(),
});

const Link = z.object({ '@odata.id': z.string() });
const Root = z.object({ Systems: Link });
const Collection = z.object({ Members: z.array(Link) });
const System = z.object({
  UUID: z.string().nullish(),
  PowerState: z.string().nullish(),
  Actions: z
    .object({
      '#ComputerSystem.Reset': z.object({
        target: z.string(),
        'ResetType@Redfish.AllowableValues': z.array(z.string()).optional(),
      }),
    })
    .optional(),
});
/** Ids only: the text beside them may repeat what was sent. */
const Refusal = z.object({
  error: z.object({
    '@Message.ExtendedInfo': z.array(z.object({ MessageId: z.string().regex(/^[\w.]{1,100}$/) })).min(1),
  }),
});

/** Set-state values only; PushPowerButton would be a toggle. */
const resets: Readonly<Record<PowerVerb, { readonly type: string; readonly goal: Power }>> = {
  on: { type: 'On', goal: 'on' },
  'soft-off': { type: 'GracefulShutdown', goal: 'off' },
  'hard-off': { type: 'ForceOff', goal: 'off' },
};

/** Anything else (PoweringOn, Paused, missing …) is unknown. */
const powerStates: ReadonlyMap<unknown, Power> = new Map([
  ['On', 'on'],
  ['Off', 'off'],
]);

/** DMTF Redfish over HTTP(S) with basic authentication: nothing is left behind in the BMC. */
export function redfish(spec: MachineSpec, deps: DriverDeps): PowerDriver {
  const options = optionsOf(spec);
  const address = addressOf(spec);
  let systemPath = options.system;

  const request = async (
    method: 'GET' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<unknown> => {
    const url = new URL(path, address);
    // The BMC says where its resources are: nobody else gets to see the password.
    if (url.origin !== address.origin)
      throw failed(spec, 'refused', `its BMC points to ${url.origin}, which is not its mgmtAddress`);
    const credentials = spec.bmcCredentials ? await deps.credentials(spec.bmcCredentials) : undefined;
    const ca = options.tls && (await readCertificate(spec, options.tls.caFile));
    let answer: AxiosResponse<unknown>;
    try {
      answer = await axios.request({
        method,
        url: url.href,
        data: body,
        signal,
        maxRedirects: 0,
        maxContentLength: 1_000_000,
        proxy: false,
        validateStatus: () => true,
        headers: { accept: 'application/json' },
        // BMCs drop idle connections: one connection a request.
        httpAgent: new HttpAgent({ keepAlive: false }),
        httpsAgent: new HttpsAgent({ keepAlive: false, ca }),
        ...(credentials && { auth: { username: credentials.username, password: credentials.password } }),
      });
    } catch (error) {
      throw failedRequest(spec, error, signal);
    }
    return accepted(spec, answer);
  };

  const get = async <Value>(
    schema: z.ZodType<Value>,
    path: string,
    what: string,
    signal: AbortSignal,
  ): Promise<Value> => {
    const parsed = schema.safeParse(await request('GET', path, signal));
    if (parsed.success) return parsed.data;
    throw failed(
      spec,
      'refused',
      `its BMC's ${what} is not as Redfish has it: ${z.prettifyError(parsed.error)}`,
    );
  };

  const findSystem = async (signal: AbortSignal): Promise<string> => {
    const { Systems } = await get(Root, '/redfish/v1/', 'service root', signal);
    const { Members } = await get(Collection, Systems['@odata.id'], 'list of systems', signal);
    const [only, ...more] = Members.map((member) => member['@odata.id']);
    if (only === undefined) throw failed(spec, 'refused', 'its BMC lists no system');
    if (more.length === 0) return only;
    throw failed(
      spec,
      'config',
      `its BMC manages ${Members.length} systems: set redfish.system to one of ${[only, ...more].join(', ')}`,
    );
  };

  const readSystem = async (signal: AbortSignal): Promise<z.infer<typeof System>> => {
    systemPath ??= await findSystem(signal);
    return get(System, systemPath, 'system', signal);
  };

  const read = async (signal: AbortSignal): Promise<PowerReading> => {
    const system = await readSystem(signal);
    return {
      power: powerStates.get(system.PowerState) ?? 'unknown',
      systemUUID: system.UUID ?? undefined,
    };
  };

  return {
    read,
    async set(verb, signal) {
      const { type, goal } = resets[verb];
      const reset = (await readSystem(signal)).Actions?.['#ComputerSystem.Reset'];
      if (!reset) throw failed(spec, 'refused', 'its BMC offers no reset action');
      const allowed = reset['ResetType@Redfish.AllowableValues'];
      if (allowed && !allowed.includes(type))
        throw failed(spec, 'refused', `its BMC does not know ${type}, only ${allowed.join(', ')}`);
      try {
        await request('POST', reset.target, signal, { ResetType: type });
      } catch (error) {
        // Some refuse to do what is so already.
        const refused = error instanceof PowerError && error.code === 'refused';
        if (!refused || (await read(signal)).power !== goal) throw error;
      }
    },
  };
}

const failed = (
  { name }: MachineSpec,
  code: PowerError['code'],
  message: string,
  retryAfterMs?: number,
): PowerError => new PowerError(code, `${name}: ${message}`, { retryAfterMs });

function optionsOf(spec: MachineSpec): z.output<typeof Options> {
  const parsed = Options.safeParse(spec.options ?? {});
  if (parsed.success) return parsed.data;
  throw failed(
    spec,
    'config',
    `its redfish options are wrong (there are system and tls.caFile): ${z.prettifyError(parsed.error)}`,
  );
}

function addressOf(spec: MachineSpec): URL {
  const address = URL.parse(spec.mgmtAddress ?? '');
  if (!address)
    throw failed(spec, 'config', 'powerInterface redfish needs mgmtAddress, such as https://10.0.0.5');
  // It would stand in the store and in messages.
  if (address.username || address.password)
    throw failed(spec, 'config', 'mgmtAddress has a user or password in it: use bmcCredentials for them');
  return address;
}

async function readCertificate(spec: MachineSpec, caFile: string): Promise<Buffer> {
  try {
    return await readFile(caFile);
  } catch (error) {
    throw failed(spec, 'config', `redfish.tls.caFile cannot be read: ${(error as Error).message}`);
  }
}

/** What Node.js says of a certificate that nobody it trusts has signed. */
const unknownSigner = /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_SIGNATURE_FAILURE/;

/** No error of axios travels on: it carries the request, and with it the password. */
function failedRequest(spec: MachineSpec, error: unknown, signal: AbortSignal): PowerError {
  if (signal.aborted) return failed(spec, 'timeout', 'its BMC did not answer in time');
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const hint = unknownSigner.test(code) ? '. Set redfish.tls.caFile to the CA of its certificate' : '';
  return failed(spec, 'unreachable', `its BMC at ${spec.mgmtAddress} cannot be reached (${code})${hint}`);
}

function accepted(spec: MachineSpec, { status, data, headers }: AxiosResponse<unknown>): unknown {
  if (status >= 200 && status < 300) return data;
  if (status >= 300 && status < 400)
    throw failed(
      spec,
      'refused',
      `its BMC sends us elsewhere (${status}), where we do not go. Correct mgmtAddress or redfish.system`,
    );
  if (status === 401 || status === 403)
    throw failed(
      spec,
      'auth',
      `its BMC refused the credentials (${status}). Not trying again so that the account is not locked. Update ${spec.bmcCredentials ?? 'bmcCredentials'}`,
    );
  if (status === 429 || status === 503)
    throw failed(spec, 'busy', `its BMC is busy (${status})`, retryAfterMs(headers['retry-after']));
  const info = Refusal.safeParse(data).data?.error['@Message.ExtendedInfo'];
  const why = info ? ` (${info.map(({ MessageId }) => MessageId).join(', ')})` : '';
  throw failed(spec, 'refused', `its BMC answered ${status}${why}`);
}

/** The header holds seconds or a date. */
function retryAfterMs(header: unknown): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
