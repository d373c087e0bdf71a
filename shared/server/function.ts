import type { z } from 'zod';
import type { Outcome } from '../core/outcome.ts';
import type { ReceivedEvent } from './cloud-event.ts';

/** How a function was woken: by which event (or by hand), and when it must stop. */
export interface Invocation {
  /** The CloudEvent's type, or `by-hand`. */
  readonly trigger: string;
  /** The CloudEvent's id, or one made for the request: names this invocation in the logs. */
  readonly id: string;
  /** Aborts when the process is told to stop: finish the step under way, start no other. */
  readonly signal: AbortSignal;
  /** The event itself, for those that take any. */
  readonly event?: ReceivedEvent;
}

/** One row of the function table. Everything that deploys, routes or serves functions reads it from there. */
export interface FunctionDefinition<Input = unknown> {
  readonly name: string;
  readonly does: string;
  /** CloudEvent types that wake it. Types of our own carry data for `input`; of others only the wake-up counts. */
  readonly wakesOn: readonly string[];
  readonly emits: readonly string[];
  /** What a person, a webhook or one of our events may send. Must accept `{}`. */
  readonly input: z.ZodType<Input>;
  /** Takes whatever event is sent to it, and is handed the event as it came: where those go that others gave up on. */
  readonly takesAnyEvent?: true;
}

export type Handler<Input = unknown> = (input: Input, invocation: Invocation) => Promise<Outcome>;

export interface ServedFunction<Input = unknown> {
  readonly definition: FunctionDefinition<Input>;
  readonly handle: Handler<Input>;
}

/** Pairs a function with its handler. The input's type ends here: only what `definition.input` parsed reaches it. */
export function served<Input>(definition: FunctionDefinition<Input>, handle: Handler<Input>): ServedFunction {
  return { definition, handle: handle as Handler };
}
