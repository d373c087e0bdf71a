import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import { redfishError } from './answer.ts';
import { type Fault, fault } from './fault.ts';
import type { Phase } from './machine.ts';
import { type ResetType, resets } from './reset.ts';

const ms = (otherwise: number) => z.number().nonnegative().default(otherwise);

/** Ends early when the caller hangs up, so that no timer outlives its connection. */
function pause(duration: number, { socket }: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, duration);
  socket.once('close', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}

const ignored = { kind: 'ignored' } as const;
const softOffs: readonly ResetType[] = ['GracefulShutdown', 'GracefulRestart', 'PushPowerButton'];
const already: Partial<Record<ResetType, Phase[]>> = {
  On: ['powering-on', 'booting', 'booted'],
  ForceOff: ['off'],
  GracefulShutdown: ['off'],
};

export const faults = {
  'ok-but-nothing-happens': fault('a reset is answered with success and forgotten', {}, () => ({
    reset: () => ignored,
  })),

  slow: fault('every answer comes late', { ms: ms(5000) }, (options) => ({
    request: async (request) => {
      await pause(options.ms, request);
      return 'go on';
    },
  })),

  hang: fault('the request is read, no answer ever comes', {}, () => ({ request: async () => 'silence' })),

  drop: fault('the connection is reset', {}, () => ({
    request: async ({ socket }) => {
      // A TLS socket has no TCP handle of its own to reset.
      if (socket instanceof TLSSocket) socket.destroy();
      else socket.resetAndDestroy();
      return 'silence';
    },
  })),

  'half-open': fault('half the answer, then silence on an open connection', {}, () => ({
    deliver: ({ socket }, { status }, text) => {
      // Raw, because a ServerResponse would finish an answer that has no body.
      const head = `HTTP/1.1 ${status} Half\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
      socket?.write(text ? `${head}\r\n${text.slice(0, text.length / 2)}` : head);
    },
  })),

  'slow-drip': fault('the answer comes a byte at a time', { ms: ms(200) }, (options) => ({
    deliver: (response, { status, headers }, text) => {
      response.writeHead(status, headers).flushHeaders();
      const bytes = Buffer.from(text);
      let sent = 0;
      const timer = setInterval(() => {
        response.write(bytes.subarray(sent, ++sent));
        if (sent < bytes.length) return;
        clearInterval(timer);
        response.end();
      }, options.ms);
      response.once('close', () => clearInterval(timer));
    },
  })),

  unavailable: fault(
    '503 with Retry-After',
    { retryAfter: z.number().int().nonnegative().default(1) },
    ({ retryAfter }) => ({
      request: async () => ({
        ...redfishError(
          503,
          'ServiceTemporarilyUnavailable',
          `The service is busy. Retry in ${retryAfter} seconds.`,
        ),
        headers: { 'Retry-After': String(retryAfter) },
      }),
    }),
  ),

  task: fault(
    'a reset is answered with 202 and a task, and done later, or not at all',
    { ms: ms(1000), ends: z.enum(['Completed', 'Exception']).default('Completed') },
    (options) => ({ reset: () => ({ kind: 'task', ...options }) }),
  ),

  'wrong-credentials': fault('401 to everybody', {}, () => ({ authenticate: () => false })),

  lockout: fault(
    'after some wrong passwords the right one is refused too, for a while',
    { after: z.number().int().positive().default(3), ms: ms(300_000) },
    (options) => {
      let wrong = 0;
      let lockedUntil = 0;
      return {
        authenticate: (right, { clock }) => {
          if (clock.now() < lockedUntil) return false;
          wrong = right ? 0 : wrong + 1;
          if (wrong < options.after) return undefined;
          wrong = 0;
          lockedUntil = clock.now() + options.ms;
          return false;
        },
      };
    },
  ),

  flapping: fault('PowerState says On and Off in turn', {}, () => {
    let on = false;
    return {
      system: (system) => {
        on = !on;
        return { ...system, PowerState: on ? 'On' : 'Off' };
      },
    };
  }),

  'wrong-machine': fault(
    'the BMC is another machine’s',
    {
      uuid: z.string().default('ffffffff-0000-4000-8000-000000000000'),
      serial: z.string().default('SOMEBODY-ELSE'),
    },
    ({ uuid, serial }) => ({ system: (system) => ({ ...system, UUID: uuid, SerialNumber: serial }) }),
  ),

  'late-soft-off': fault('a soft-off happens long after it was asked for', { ms: ms(60_000) }, (options) => ({
    reset: (machine, type) => {
      if (!softOffs.includes(type)) return undefined;
      machine.later(options.ms, () => machine.askToStop());
      return ignored;
    },
  })),

  'ignores-soft-off': fault('the operating system does not react to a soft-off', {}, () => ({
    reset: (_, type) => (softOffs.includes(type) ? ignored : undefined),
  })),

  'never-boots': fault('power comes on, the operating system never does', {}, () => ({
    pace: { booting: Number.POSITIVE_INFINITY },
  })),

  'boots-slowly': fault(
    'booting takes longer',
    { factor: z.number().positive().default(5) },
    ({ factor }) => ({
      pace: { booting: factor },
    }),
  ),

  'refuses-when-already': fault(
    'an error instead of success when the machine is in the wanted state',
    { status: z.union([z.literal(400), z.literal(409)]).default(409) },
    ({ status }) => ({
      reset: (machine, type) =>
        already[type]?.includes(machine.phase)
          ? {
              kind: 'refused',
              status,
              messageId: 'InvalidOperationForSystemState',
              message: `${type} is not possible while PowerState is ${machine.powerState}.`,
            }
          : undefined,
    }),
  ),

  'no-power-state': fault('PowerState is missing', {}, () => ({
    system: ({ PowerState: _, ...system }) => system,
  })),

  'stuck-powering-off': fault('PoweringOff for ever', {}, () => ({
    pace: { 'shutting-down': Number.POSITIVE_INFINITY },
  })),

  unhealthy: fault(
    'Health is bad and the inlet is hot',
    { health: z.enum(['Warning', 'Critical']).default('Critical'), celsius: z.number().default(97) },
    (health) => ({ health }),
  ),

  'failed-part': fault(
    'a power supply or a fan is not well',
    {
      name: z.enum(['PSU 1', 'PSU 2', 'Fan 1', 'Fan 2']).default('PSU 2'),
      health: z.enum(['Warning', 'Critical']).default('Critical'),
    },
    (part) => ({ part }),
  ),

  logged: fault(
    'its hardware log (SEL) has an entry',
    {
      severity: z.enum(['OK', 'Warning', 'Critical']).default('Critical'),
      message: z.string().default('PSU 2: failure detected'),
      created: z.iso.datetime().optional(),
    },
    (logged) => ({ logged }),
  ),

  'no-session-free': fault('no session can be begun, as all are taken', {}, () => ({
    login: () => ({
      ...redfishError(503, 'SessionLimitExceeded', 'Too many sessions are open. Delete one of them first.'),
      headers: { 'Retry-After': '30' },
    }),
  })),

  'odd-etags': fault(
    'a change is taken only with its ETag made weak, with none, or with any',
    { wants: z.enum(['weak', 'none', 'any']).default('weak') },
    ({ wants }) => ({
      precondition: (ifMatch, etag) => {
        if (wants === 'any')
          return ifMatch === undefined
            ? redfishError(428, 'PreconditionHeaderMissing', 'Send If-Match.')
            : undefined;
        const right = ifMatch === (wants === 'weak' ? `W/${etag}` : undefined);
        return right ? undefined : redfishError(412, 'PreconditionFailed', 'The ETag does not match.');
      },
    }),
  ),

  'forgets-boot': fault('a boot override is answered with success and forgotten', {}, () => ({
    forgetsBoot: true,
  })),

  maker: fault(
    'the machine is another maker’s',
    { manufacturer: z.string().default('Dell Inc.') },
    ({ manufacturer }) => ({ system: (system) => ({ ...system, Manufacturer: manufacturer }) }),
  ),

  'not-now': fault(
    'a reset is refused for the moment, in the words of a maker',
    {
      messageId: z.string().default('IDRAC.2.9.SYS518'),
      status: z.union([z.literal(400), z.literal(409), z.literal(503)]).default(503),
    },
    (refusal) => ({ reset: () => ({ kind: 'refused', ...refusal, message: 'Not now.' }) }),
  ),

  'drops-while-pending': fault(
    'a change takes a while, and what is asked meanwhile gets success and is dropped',
    { ms: ms(5000) },
    (options) => {
      let pending = false;
      return {
        reset: (machine, type) => {
          if (pending) return ignored;
          pending = true;
          machine.later(options.ms, () => {
            pending = false;
            resets[type](machine);
          });
          return ignored;
        },
      };
    },
  ),
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
