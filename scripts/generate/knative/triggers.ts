import { functionTable } from '../../../functions/index.ts';
import { foreignEvents } from '../../../shared/ports/event-types.ts';
import { brokerRef, deadLetters, destination, labelsOf } from './names.ts';
import { watchedBy } from './watched.ts';

/** 0.2 s, doubled each time: 13 s in all. What is still refused then is for the tick, and for somebody to look at. */
export const delivery = {
  retry: 6,
  backoffPolicy: 'exponential',
  backoffDelay: 'PT0.2S',
  deadLetterSink: destination(deadLetters),
} as const;

type Filter = Readonly<Record<string, unknown>>;
const anyOf = (filters: readonly Filter[]): Filter =>
  filters.length === 1 ? { ...filters[0] } : { any: filters };

function apiServerFilters(name: string): Filter[] {
  return watchedBy(name).map(({ kind, verbs }) => ({
    all: [
      { exact: { kind } },
      verbs
        ? anyOf(verbs.map((verb) => ({ suffix: { type: `.${verb}` } })))
        : { prefix: { type: foreignEvents.apiServer.replace('*', '') } },
    ],
  }));
}

const filterOf = (name: string, wakesOn: readonly string[]): Filter =>
  anyOf(
    wakesOn.flatMap((type) =>
      type === foreignEvents.apiServer ? apiServerFilters(name) : [{ exact: { type } }],
    ),
  );

/** One per function that any event wakes, named after it. */
export const triggers = functionTable
  .filter(({ definition }) => definition.wakesOn.length > 0)
  .map(({ definition: { name, wakesOn } }) => ({
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name, labels: labelsOf(name) },
    spec: {
      broker: brokerRef.name,
      filters: [filterOf(name, wakesOn)],
      subscriber: destination(name),
      delivery,
    },
  }));
