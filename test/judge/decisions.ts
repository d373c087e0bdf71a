import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { because, type Reason } from '../../shared/core/reasons/reason.ts';
import type { Judged } from './case.ts';
import { demandOf } from './eligible.ts';

/** A decision in short, to be written by hand. */
export interface Short {
  /** Place → names of pods in the default namespace. */
  readonly assign?: Readonly<Record<string, readonly string[]>>;
  readonly on?: readonly string[];
  readonly drain?: readonly string[];
  readonly wants?: readonly string[];
  readonly rejected?: Readonly<Record<string, Reason>>;
  /** What the record says, where that is not what there is. */
  readonly demand?: number;
  readonly unmet?: number;
}

/** The decision written out, with a record that adds up. */
export function decisionOf(snapshot: Snapshot, short: Short): Judged {
  const { assign = {}, on = [], drain = [], wants = [], rejected = {} } = short;
  const waiting = demandOf(snapshot).length;
  const assigned = new Set(Object.values(assign).flat()).size;
  const demand = short.demand ?? waiting;
  const unmet = short.unmet ?? waiting - assigned;
  const whyOf = (machine: string): string => (assign[machine] ? 'holds pods' : (wants[0] ?? 'holds nobody'));
  const intents = [
    ...on.map((machine) => ({ kind: 'power-on' as const, machine, why: whyOf(machine) })),
    ...drain.map((machine) => ({ kind: 'drain' as const, machine, why: 'nothing has needed it' })),
  ];
  const candidates = Object.entries(rejected).map(([machine, reason]) => ({
    machine,
    verdict: 'rejected' as const,
    ...because(reason),
  }));
  return {
    intents,
    candidates,
    assignments: () =>
      Object.entries(assign).map(([place, pods]) => ({
        on: place,
        pods: pods.map((name) => `default/${name}`),
      })),
    record: {
      at: 0,
      digest: '',
      summary: '',
      demand: [{ pods: demand, requests: {}, example: '', room: demand - unmet, served: 0 }],
      wants,
      candidates,
      limits: [],
      unmet: unmet > 0 ? [{ pod: '', pods: unmet, why: '' }] : [],
      notes: [],
      intents,
    },
  };
}
