import { functionTable } from '../../../functions/index.ts';
import { brokerRef, deadLetters, destination, labelsOf } from './names.ts';

/** 0.2 s, doubled each time: 13 s in all. What is still refused then is for the tick, and for somebody to look at. */
export const delivery = {
  retry: 6,
  backoffPolicy: 'exponential',
  backoffDelay: 'PT0.2S',
  deadLetterSink: destination(deadLetters),
} as const;

/** One per function that any event wakes, named after it. */
export const triggers = functionTable
  .filter(({ definition }) => definition.wakesOn.length > 0)
  .map(({ definition: { name, wakesOn } }) => ({
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name, labels: labelsOf(name) },
    spec: {
      broker: brokerRef.name,
      // The dialect that needs no parser.
      filters: [{ any: wakesOn.map((type) => ({ exact: { type } })) }],
      subscriber: destination(name),
      delivery,
    },
  }));
