import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Answer, redfishError } from './answer.ts';
import type { SimulatedMachine } from './machine.ts';
import { isResetType } from './reset.ts';
import { bootEnabled, bootTargets, paths, processorBody, readable, systemBody } from './resources.ts';
import type { Sessions } from './sessions.ts';
import type { Tasks } from './tasks.ts';

export interface RedfishRequest {
  method: string;
  path: string;
  ifMatch: string | undefined;
  /** Parsed JSON, or undefined. */
  body: unknown;
}

export interface Service {
  machine: SimulatedMachine;
  sessions: Sessions;
  tasks: Tasks;
}

const Reset = z.object({ ResetType: z.string() });
const Patch = z.object({
  Boot: z
    .object({
      BootSourceOverrideTarget: z.enum(bootTargets as [string, ...string[]]),
      BootSourceOverrideEnabled: z.enum(bootEnabled as [string, ...string[]]),
      BootSourceOverrideMode: z.enum(['UEFI', 'Legacy']),
    })
    .partial(),
});

const etagOf = (body: object) =>
  `"${createHash('sha1').update(JSON.stringify(body)).digest('hex').slice(0, 16)}"`;

/** The answer to an authenticated request. */
export function redfish(service: Service, request: RedfishRequest): Answer {
  const { method, path } = request;
  if (path.startsWith(paths.sessions)) return service.sessions.answer(method, path) ?? notFound(path);
  if (path.startsWith(paths.tasks) || path.startsWith(paths.monitors)) {
    return service.tasks.answer(path) ?? notFound(path);
  }
  if (method === 'POST' && path === paths.reset) return reset(service, request.body);
  if (method === 'PATCH' && path === paths.system) return patchSystem(service.machine, request);
  if (method !== 'GET')
    return redfishError(405, 'OperationNotAllowed', `${method} is not possible on ${path}.`);
  const body = readable[path]?.(service.machine) ?? processorBody(service.machine, path);
  if (!body) return notFound(path);
  return path === paths.system
    ? { status: 200, headers: { ETag: etagOf(body) }, body }
    : { status: 200, body };
}

const notFound = (path: string) => redfishError(404, 'ResourceMissingAtURI', `There is nothing at ${path}.`);

function reset({ machine, tasks }: Service, body: unknown): Answer {
  const type = Reset.safeParse(body).data?.ResetType;
  if (type === undefined) return redfishError(400, 'ActionParameterMissing', 'Reset needs a ResetType.');
  if (!isResetType(type)) {
    machine.record(type, false);
    return redfishError(
      400,
      'ActionParameterNotSupported',
      `ResetType ${type} is not among the allowable values.`,
    );
  }
  const answer = machine.reset(type);
  if (answer.kind === 'refused') return redfishError(answer.status, answer.messageId, answer.message);
  return answer.kind === 'task' ? tasks.start(answer) : { status: 204 };
}

function preconditionOf(
  machine: SimulatedMachine,
  ifMatch: string | undefined,
  etag: string,
): Answer | undefined {
  const [odd] = machine.faults.having('precondition');
  if (odd) {
    odd.used();
    return odd.effect(ifMatch, etag);
  }
  const wanted = ifMatch?.replace(/^W\//, '');
  if (wanted === undefined || wanted === '*' || wanted === etag) return undefined;
  return redfishError(
    412,
    'PreconditionFailed',
    'The ETag is not that of the resource as it is now. Read it again.',
  );
}

function patchSystem(machine: SimulatedMachine, { ifMatch, body }: RedfishRequest): Answer {
  const etag = etagOf(systemBody(machine));
  const objection = preconditionOf(machine, ifMatch, etag);
  if (objection) {
    machine.record('SetBoot', false);
    return objection;
  }
  const patch = Patch.safeParse(body);
  if (!patch.success) {
    machine.record('SetBoot', false);
    return redfishError(400, 'PropertyValueError', z.prettifyError(patch.error));
  }
  const given = Object.entries(patch.data.Boot).filter(([, value]) => value !== undefined);
  const [forgetful] = machine.faults.having('forgetsBoot');
  forgetful?.used();
  if (!forgetful) machine.bootOverride = { ...machine.bootOverride, ...Object.fromEntries(given) };
  machine.record('SetBoot', true);
  const now = systemBody(machine);
  return { status: 200, headers: { ETag: etagOf(now) }, body: now };
}
