import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import { z } from 'zod';
import type { MachineSpec, Power, PowerVerb } from '../core/machine.ts';
import {
  type Credentials,
  type DriverDeps,
  type PowerDriver,
  PowerError,
  type PowerReading,
} from '../ports.ts';

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

/** Set-state values only; PushPowerButton would be a toggle. */
const resetTypes: Readonly<Record<PowerVerb, string>> = {
  on: 'On',
  'soft-off': 'GracefulShutdown',
  'hard-off': 'ForceOff',
};

/** Anything else (PoweringOn, Paused, missing …) is unknown. */
const powerStates: Readonly<Record<string, Power>> = { On: 'on', Off: 'off' };

/** DMTF Redfish over HTTP(S) with basic authentication: nothing is left behind in the BMC. */
export function redfish(spec: MachineSpec, deps: DriverDeps): PowerDriver {
  const options = Options.parse(spec.options ?? {});
  const { mgmtAddress, bmcCredentials } = spec;
  if (!mgmtAddress)
    throw new PowerError(
      'config',
      `${spec.name}: powerInterface redfish needs mgmtAddress, such as https://10.0.0.5`,
    );
  let systemPath = options.system;

  const request = async (
    method: 'GET' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<unknown> => {
    const credentials: Credentials | undefined = bmcCredentials
      ? await deps.credentials(bmcCredentials)
      : undefined;
    const ca = options.tls && (await readFile(options.tls.caFile));
    let answer: AxiosResponse<unknown>;
    try {
      answer = await axios.request({
        method,
        url: new URL(path, mgmtAddress).href,
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

  const parse = <Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new PowerError(
      'refused',
      `${spec.name}: its BMC's ${what} is not as Redfish has it: ${z.prettifyError(parsed.error)}`,
    );
  };

  const findSystem = async (signal: AbortSignal): Promise<string> => {
    const root = parse(Root, await request('GET', '/redfish/v1/', signal), 'service root');
    const { Members } = parse(
      Collection,
      await request('GET', root.Systems['@odata.id'], signal),
      'list of systems',
    );
    const [only, ...more] = Members;
    if (!only || more.length > 0)
      throw new PowerError(
        'config',
        `${spec.name}: its BMC manages ${Members.length} systems: set redfish.system to one of ${Members.map((member) => member['@odata.id']).join(', ')}`,
      );
    return only['@odata.id'];
  };

  const readSystem = async (signal: AbortSignal): Promise<z.infer<typeof System>> => {
    systemPath ??= await findSystem(signal);
    return parse(System, await request('GET', systemPath, signal), 'system');
  };

  return {
    async read(signal): Promise<PowerReading> {
      const system = await readSystem(signal);
      return {
        power: powerStates[system.PowerState ?? ''] ?? 'unknown',
        systemUUID: system.UUID ?? undefined,
      };
    },
    async set(verb, signal) {
      const reset = (await readSystem(signal)).Actions?.['#ComputerSystem.Reset'];
      if (!reset) throw new PowerError('refused', `${spec.name}: its BMC offers no reset action`);
      const type = resetTypes[verb];
      const allowed = reset['ResetType@Redfish.AllowableValues'];
      if (allowed && !allowed.includes(type))
        throw new PowerError(
          'refused',
          `${spec.name}: its BMC does not know ${type}, only ${allowed.join(', ')}`,
        );
      await request('POST', reset.target, signal, { ResetType: type });
    },
  };
}

/** No error of axios travels on: it carries the request, and with it the password. */
function failedRequest(spec: MachineSpec, error: unknown, signal: AbortSignal): PowerError {
  if (signal.aborted) return new PowerError('timeout', `${spec.name}: its BMC did not answer in time`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new PowerError(
    'unreachable',
    `${spec.name}: its BMC at ${spec.mgmtAddress} cannot be reached (${code})`,
  );
}

function accepted(spec: MachineSpec, { status, data, headers }: AxiosResponse<unknown>): unknown {
  if (status >= 200 && status < 300) return data;
  if (status === 401 || status === 403)
    throw new PowerError(
      'auth',
      `${spec.name}: its BMC refused the credentials (${status}). Not trying again so that the account is not locked. Update ${spec.bmcCredentials ?? 'bmcCredentials'}`,
    );
  if (status === 429 || status === 503) {
    const retryAfter = Number(headers['retry-after']);
    throw new PowerError('busy', `${spec.name}: its BMC is busy (${status})`, {
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
    });
  }
  throw new PowerError('refused', `${spec.name}: its BMC answered ${status}`);
}
