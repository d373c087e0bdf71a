import { z } from 'zod';
import type { MachineSpec } from '../../core/machine/machine.ts';
import { httpAddress } from '../../http/address.ts';
import { accepted, parsed } from '../../http/answers.ts';
import type { HttpAnswer } from '../../http/exchange.ts';
import { type HttpPeer, httpRequest } from '../../http/peer.ts';
import { type DriverDeps, PowerError } from '../../ports/power.ts';
import { failureOf } from '../common/failure.ts';
import type { Options } from './options.ts';

export interface Api {
  get<Value>(schema: z.ZodType<Value>, path: string, signal: AbortSignal): Promise<Value>;
  send(method: string, path: string, body: Form, signal: AbortSignal): Promise<unknown>;
  /** Sends, and waits for the task that Proxmox makes of it: `glanceMs` only that long. A failed task is refused. */
  task(
    method: string,
    node: string,
    path: string,
    body: Form,
    signal: AbortSignal,
    glanceMs?: number,
  ): Promise<void>;
}

type Form = Readonly<Record<string, string>>;

const Answer = z.object({ data: z.unknown() });
const Refusal = z.object({
  message: z.string().optional(),
  errors: z.record(z.string(), z.string()).optional(),
});
const Upid = z.string().regex(/^UPID:[\w.-]+:[0-9A-F]+:[0-9A-F]+:[0-9A-F]+:\w+:[^:/]*:[^:/]+:$/);
const Task = z.object({ status: z.enum(['running', 'stopped']), exitstatus: z.string().optional() });

const pollEveryMs = 500;

/** Proxmox VE's REST API with an API token. */
export function createApi(
  spec: MachineSpec,
  options: Options,
  deps: Pick<DriverDeps, 'clock' | 'credentials' | 'resolve'>,
): Api {
  const fail = failureOf(spec);
  const peer: HttpPeer = {
    who: 'Proxmox',
    address: httpAddress(spec.mgmtAddress, 'proxmox', fail),
    tls: options.tls,
    section: 'proxmox',
    resolve: deps.resolve,
    fail,
  };
  const name = spec.bmcCredentials;
  if (!name)
    throw fail(
      'config',
      'powerInterface proxmox needs bmcCredentials with tokenId (user@realm!name) and tokenSecret',
    );

  const send = async (method: string, path: string, body: Form, signal: AbortSignal): Promise<unknown> => {
    const token = tokenOf(await deps.credentials(name), name);
    const form = new URLSearchParams(body).toString();
    const answer = await httpRequest(
      peer,
      {
        method,
        path: `/api2/json${path}`,
        headers: {
          authorization: `PVEAPIToken=${token}`,
          accept: 'application/json',
          ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body: form || undefined,
      },
      signal,
    );
    return parsed(peer, Answer, accepted(peer, answer, name, reasonIn(answer)), path).data;
  };

  const get: Api['get'] = async (schema, path, signal) => {
    const result = schema.safeParse(await send('GET', path, {}, signal));
    if (result.success) return result.data;
    throw fail(
      'refused',
      `Proxmox answers ${path} otherwise than expected: ${z.prettifyError(result.error)}`,
    );
  };

  return {
    get,
    send,
    async task(method, node, path, body, signal, glanceMs = Number.POSITIVE_INFINITY) {
      const upid = Upid.safeParse(await send(method, path, body, signal));
      if (!upid.success) throw fail('refused', `Proxmox made no task of ${method} ${path}`);
      const until = deps.clock.monotonic() + glanceMs;
      for (;;) {
        const { status, exitstatus } = await get(
          Task,
          `/nodes/${node}/tasks/${encodeURIComponent(upid.data)}/status`,
          signal,
        );
        // Warnings are no failure: "WARNINGS: 1".
        if (status === 'stopped' && /^(OK|WARNINGS)/.test(exitstatus ?? '')) return;
        if (status === 'stopped') throw fail('refused', `Proxmox failed at it: ${exitstatus ?? 'no reason'}`);
        if (deps.clock.monotonic() >= until) return;
        await deps.clock.sleep(pollEveryMs, signal);
      }
    },
  };
}

/** Its own names, and those of a Secret made for KubeNodeSmith. */
function tokenOf(credentials: Readonly<Record<string, string>>, name: string): string {
  const id = credentials.tokenId ?? credentials.PROXMOX_TOKEN_ID;
  const secret = credentials.tokenSecret ?? credentials.PROXMOX_SECRET;
  if (id && secret) return `${id}=${secret}`;
  throw new PowerError('config', `credentials ${name} have no ${id ? 'tokenSecret' : 'tokenId'}: add it`);
}

/** Which parameter it does not like; never the values. */
function reasonIn({ text }: HttpAnswer): string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return '';
  }
  const { message, errors } = Refusal.safeParse(json).data ?? {};
  const fields = Object.entries(errors ?? {}).map(([field, why]) => `${field}: ${why}`);
  const reasons = [message?.trim(), ...fields].filter(Boolean).join('; ');
  return reasons && ` (${reasons.slice(0, 300)})`;
}
