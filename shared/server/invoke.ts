import { type Outcome, retryLater } from '../core/outcome.ts';
import { ClusterError } from '../ports/cluster.ts';
import { PowerError } from '../ports/power.ts';
import { StoreError } from '../ports/store.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { wakingPattern } from './event-type.ts';
import type { Invocation, ServedFunction } from './function.ts';
import { SinkError } from './http-sink.ts';

const retryAfterMs = 1_000;

export interface InvokeDeps {
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** The last logged problem by function: an outage is logged once, not at every tick. */
  readonly lastProblems: Map<string, string>;
}

/** Runs a function; errors become outcomes too. */
export async function invoke<Input>(
  { definition, handle }: ServedFunction<Input>,
  input: Input,
  invocation: Invocation,
  { log, metrics, lastProblems }: InvokeDeps,
): Promise<Outcome> {
  const { trigger, id } = invocation;
  const about = { function: definition.name, trigger, id };
  const stopTimer = metrics?.duration.startTimer({ function: definition.name });
  const outcome = await (async () => handle(input, invocation))().catch((error: unknown) =>
    outcomeOfError(error, about, log),
  );
  stopTimer?.();
  metrics?.invocations.inc({
    function: definition.name,
    // The pattern, not the type: senders choose types, and every label value costs memory.
    trigger:
      invocation.event && definition.takesAnyEvent
        ? 'any'
        : (wakingPattern(definition.wakesOn, trigger) ?? trigger),
    outcome: outcome.kind,
  });
  logOutcome(outcome, about, log, lastProblems);
  return outcome;
}

function logOutcome(
  outcome: Outcome,
  about: { readonly function: string },
  log: Log,
  lastProblems: Map<string, string>,
): void {
  if (outcome.kind === 'done') {
    if (lastProblems.delete(about.function)) log.warn(about, 'function works again');
    else log.debug(about, 'function done');
    return;
  }
  // Numbers, such as durations, do not make a reason new.
  const news = outcome.why.replace(/\d+/g, '');
  const level = lastProblems.get(about.function) === news ? 'debug' : 'warn';
  lastProblems.set(about.function, news);
  log[level]({ ...about, outcome: outcome.kind, why: outcome.why }, 'function not done');
}

/** An unavailable dependency is retried; a bug is no reason to drop an event either. */
function outcomeOfError(error: unknown, about: { readonly id: string }, log: Log): Outcome {
  if (error instanceof StoreError || error instanceof SinkError)
    return retryLater(retryAfterMs, error.message);
  if (error instanceof ClusterError || error instanceof PowerError)
    return retryLater(error.retryAfterMs ?? retryAfterMs, error.message);
  log.error({ ...about, err: error }, 'function failed unexpectedly: this is a bug');
  return retryLater(retryAfterMs, `internal error, look for id ${about.id} in the log`);
}
