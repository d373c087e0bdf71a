import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Outcome, retryLater } from '../core/outcome.ts';
import { newId } from '../process/ids.ts';
import { describeProblem } from '../schema/zod-issue.ts';
import type { ReceivedEvent } from './cloud-event.ts';
import type { EventGuard } from './event-guard.ts';
import { wakingPattern } from './event-type.ts';
import type { FunctionDefinition, ServedFunction } from './function.ts';
import { eventResponse, jsonResponse, worstOutcome } from './http-outcome.ts';
import { HttpError, type HttpResponse } from './http-response.ts';
import { type Parsed, parseEventInput, parseInput } from './input.ts';
import { type InvokeDeps, invoke } from './invoke.ts';
import { parseRequest } from './parse-request.ts';
import { type BodyLimits, readBody } from './request-body.ts';
import type { Route } from './routes.ts';

export interface FunctionRouteOptions extends InvokeDeps {
  readonly body: BodyLimits;
  readonly maxDepth: number;
  /** Refuses repeated and stale events. */
  readonly guard?: EventGuard | undefined;
}

/** `POST /<name>`: reads the request, runs the function, answers. */
export function functionRoute(served: ServedFunction, path: string, options: FunctionRouteOptions): Route {
  const { definition } = served;
  const { guard, metrics } = options;
  return {
    method: 'POST',
    path,
    async respond({ request, response, signal }): Promise<HttpResponse> {
      const body = await readBody(request, options.body, () => writeContinue(request, response));
      const received = parseRequest(request.headers, body, options.maxDepth);
      const run = (trigger: string, id: string, input: unknown, event?: ReceivedEvent): Promise<Outcome> =>
        signal.aborted
          ? Promise.resolve(retryLater(1_000, 'this process is stopping'))
          : invoke(served, input, { trigger, id, signal, ...(event && { event }) }, options);
      if (received.kind === 'json') {
        const input = inputOrThrow(parseInput(definition, received.data));
        return jsonResponse(await run('by-hand', newId('req'), input));
      }
      // All events are checked before the first is handled: a batch is accepted or refused as a whole.
      const calls = received.events.map((event) => ({ event, input: eventInput(definition, event) }));
      for (const { event } of calls) guard?.check(event);
      metrics?.eventsReceived.inc({ function: definition.name }, calls.length);
      const outcomes: Outcome[] = [];
      for (const { event, input } of calls) {
        const work = (): Promise<Outcome> => run(event.type, event.id, input, event);
        outcomes.push(await (guard ? guard.once(event, work) : work()));
      }
      return eventResponse(worstOutcome(outcomes));
    },
  };
}

/**
 * 400 makes Knative send the event to the dead letters at once: a retry of a misrouted event would not help.
 */
function eventInput<Input>(definition: FunctionDefinition<Input>, event: ReceivedEvent): Input {
  const { name, wakesOn } = definition;
  if (definition.takesAnyEvent) return inputOrThrow(parseInput(definition, {}));
  if (!wakingPattern(wakesOn, event.type))
    throw new HttpError(400, `${name} is not woken by events of type ${event.type}`, {
      attribute: 'type',
      allowed: wakesOn,
    });
  return inputOrThrow(parseEventInput(definition, event));
}

export function inputOrThrow<Input>(parsed: Parsed<Input>): Input {
  if (parsed.ok) return parsed.input;
  const [first] = parsed.problems;
  throw new HttpError(400, parsed.problems.map(describeProblem).join('; '), {
    field: first?.field,
    ...(first?.allowed && { allowed: first.allowed }),
  });
}

export function writeContinue({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
}
