import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Answer } from './answer.ts';
import type { Phase, SimulatedMachine } from './machine.ts';
import type { ResetAnswer, ResetType } from './reset.ts';
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
  /** A part (power supply or fan, by its name) that is not well. */
  part?: { name: string; health: 'Warning' | 'Critical' };
  /** An entry of its hardware log. */
  logged?: { severity: 'OK' | 'Warning' | 'Critical'; message: string; created?: string | undefined };
  /** Given a login whose password is right; undefined lets it in. */
  login?: () => Answer | undefined;
  /** Given the If-Match of a change and the ETag as it is; undefined judges as usual. */
  precondition?: (ifMatch: string | undefined, etag: string) => Answer | undefined;
  /** Given a boot override that was taken; true forgets it. */
  forgetsBoot?: true;
}

export interface Fault {
  says: string;
  options: z.ZodObject;
  bind(options: unknown): Effects;
}

/** A row of the table: what it says, its options, what it does. */
export function fault<Shape extends z.ZodRawShape>(
  says: string,
  shape: Shape,
  effects: (options: z.infer<z.ZodObject<Shape, z.core.$strict>>) => Effects,
): Fault {
  const options = z.strictObject(shape);
  return { says, options: options as unknown as z.ZodObject, bind: (raw) => effects(options.parse(raw)) };
}
