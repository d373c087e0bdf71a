import type { z } from 'zod';
import type { Outcome } from '../core/outcome.ts';
import type { ReceivedEvent } from './cloud-event.ts';

/** What woke a function, and when it must stop. */
export interface Invocation {
  /** The CloudEvent's type, or `by-hand`. */
  readonly trigger: string;
  /** The CloudEvent's id, or a generated one: identifies this invocation in the logs. */
  readonly id: string;
  /** Aborts when the process stops: finish the current step, start no other. */
  readonly signal: AbortSignal;
  /** The event itself, for functions that accept any. */
  readonly event?: ReceivedEvent;
}

/** One row of the function table. Everything that deploys, routes or serves functions reads it from there. */
export interface FunctionDefinition<Input = unknown> {
  readonly name: string;
  readonly does: string;
  /** CloudEvent types that wake it. Our own types carry data for `input`; other types only wake it. */
  readonly wakesOn: readonly string[];
  readonly emits: readonly string[];
  /** The schema of requests and of our events. Must accept `{}`. */
  readonly input: z.ZodType<Input>;
  /** Accepts events of any type and gets them unchanged: the dead letter function. */
  readonly takesAnyEvent?: true;
}

export type Handler<Input = unknown> = (input: Input, invocation: Invocation) => Promise<Outcome>;

export interface ServedFunction<Input = unknown> {
  readonly definition: FunctionDefinition<Input>;
  readonly handle: Handler<Input>;
}

/** Pairs a function with its handler and erases the input type: `definition.input` parses every input. */
export function served<Input>(definition: FunctionDefinition<Input>, handle: Handler<Input>): ServedFunction {
  return { definition, handle: handle as Handler };
}
