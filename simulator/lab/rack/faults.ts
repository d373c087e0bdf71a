import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import { type Answer, redfishError } from './answer.ts';
import type { Phase, SimulatedMachine } from './machine.ts';
import { type ResetAnswer, type ResetType, resets } from './reset.ts';
import type { SystemBody } from './resources.ts';

/** Where a fault can act. Network delays are real time, as the caller's time-outs are; the machine's are lab time. */
export interface Effects {
  /** Before the request is looked at. An Answer is sent instead of the real one; `silence` means none ever comes. */
  request?: (request: IncomingMessage) => Promise<Answer | 'silence' | 'go on'>;
  /** Writes the answer in its own way. */
  deliver?: (response: ServerResponse, answer: Answer, text: string) => void;
  /** Given whether the credentials were right; undefined leaves it at that. */
  authenticate?: (right: boolean, machine: SimulatedMachine) => boolean | undefined;
  /** Given a reset; undefined lets it through. */
  reset?: (machine: SimulatedMachine, type: ResetType) => ResetAnswer | undefined;
  /** Changes what the System resource says. */
  system?: (system: SystemBody, machine: SimulatedMachine) => SystemBody;
  /** How many times longer a phase takes. */
  pace?: Partial<Record<Phase, number>>;
  health?: { health: 'Warning' | 'Critical'; celsius: number };
}

export interface Fault {
  says: string;
  options: z.ZodObject;
  bind(options: unknown): Effects;
}

function fault<Shape extends z.ZodRawShape>(
  says: string,
  shape: Shape,
  effects: (options: z.infer<z.ZodObject<Shape, z.core.$strict>>) => Effects,
): Fault {
  const options = z.strictObject(shape);
  return { says, options: options as unknown as z.ZodObject, bind: (raw) => effects(options.parse(raw)) };
}

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

  task: fault('a reset is answered with 202 and a task, and done later', { ms: ms(1000) }, (options) => ({
    reset: () => ({ kind: 'task', ms: options.ms }),
  })),

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
