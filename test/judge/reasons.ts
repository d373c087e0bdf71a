import { isDeepStrictEqual } from 'node:util';
import type { Reason, ReasonCode } from '../../shared/core/reasons/reason.ts';
import type { Spot } from './board.ts';
import type { Shape } from './book.ts';
import type { Case } from './case.ts';
import { bars } from './eligible.ts';
import type { Finding } from './finding.ts';
import { hasRoom } from './fit.ts';
import { type Leftover, wouldServe } from './maximal.ts';
import type { Rule } from './rule.ts';
import type { SpareKind, Spares } from './spares.ts';

interface Question {
  readonly given: Case;
  readonly kind: SpareKind;
  readonly spares: Spares;
  readonly leftovers: readonly Leftover[];
  /** Some waiting pod is kept from the machine by the rule. */
  readonly some: (rule: Rule, also?: (shape: Shape, spot: Spot) => boolean) => boolean;
}

/** Whether the reason is true of the machine. */
type Holds<Facts> = (question: Question, facts: Facts) => boolean;

const byRule =
  (rule: Rule): Holds<unknown> =>
  ({ some }) =>
    some(rule);

const limited: Holds<Reason> = ({ given, kind }, reason) =>
  given.limits.refusals(kind.example.spec).some((limit) => isDeepStrictEqual(limit.reason, reason));

/** Every reason that a decision gives for leaving a machine off that may be powered on, and when it is true. */
const reasons: { readonly [Code in ReasonCode]?: Holds<Extract<Reason, { readonly code: Code }>> } = {
  'not-needed': ({ leftovers, kind, spares }) => !leftovers.some((one) => wouldServe(one, kind, spares)),
  'at-limit': limited,
  'batch-full': limited,
  'rate-limited': limited,
  'no-room': ({ given, some }, { resource }) => {
    const column = given.book.columns.get(resource);
    const lacks = ({ columns, amounts }: Shape, { free }: Spot): boolean =>
      columns.some((one, index) => one === column && (free[one] as number) < (amounts[index] as number));
    return column !== undefined && some('resources', lacks);
  },
  'taint-not-tolerated': byRule('taints'),
  'spread-label-missing': ({ kind, some }, { key }) =>
    !Object.hasOwn(kind.spot.facts.labels, key) && some('spread'),
  'label-needed': ({ kind, some }, { key, value }) =>
    kind.spot.facts.labels[key] !== value &&
    some('labels', ({ example }) => example.nodeSelector[key] === value),
  'pod-affinity': byRule('affinity'),
  'node-affinity': byRule('labels'),
  'volume-affinity': byRule('volumes'),
  'claim-topology': byRule('volumes'),
  'claim-elsewhere': byRule('volumes'),
  'no-free-volume': byRule('volumes'),
  'anti-affinity': byRule('anti-affinity'),
  'anti-affinity-of-other': byRule('anti-affinity'),
  'host-port-taken': byRule('ports'),
  'claim-in-use': byRule('claim'),
  'spread-skew': byRule('spread'),
  gated: byRule('impossible'),
  'claim-missing': byRule('impossible'),
  'claim-deleting': byRule('impossible'),
  'claim-lost': byRule('impossible'),
  'claim-unbound': byRule('impossible'),
  'volume-missing': byRule('impossible'),
};

/** The reason of every machine that was rejected is one that the judge knows, and is true of that machine. */
export function judgeReasons(given: Case, spares: Spares, leftovers: readonly Leftover[]): Finding[] {
  const { decision, snapshot, poolOf, now, demand, book } = given;
  const machineOf = new Map(snapshot.machines.map((machine) => [machine.spec.name, machine]));
  const shapes = [...new Set(demand.map((pod) => book.shapeOf(pod)))];
  const known = new Map<string, boolean | undefined>();
  const numbers = new Map([...spares.kinds].map((kind, index) => [kind, index]));

  const holdsFor = (reason: Reason, kind: SpareKind): boolean | undefined => {
    const some: Question['some'] = (rule, also = () => true) =>
      shapes.some((shape) => keptBy(spares, shape, kind, rule) && also(shape, kind.spot));
    const holds: Holds<never> | undefined = reasons[reason.code];
    return holds?.({ given, kind, spares, leftovers, some }, reason as never);
  };

  return decision.candidates.flatMap(({ machine: name, verdict, why, reason }): Finding[] => {
    if (verdict !== 'rejected') return [];
    const told = (code: 'reason-false' | 'reason-unknown'): Finding[] => [
      { code, machine: name, text: `${name}: ${why}` },
    ];
    const machine = machineOf.get(name);
    if (!machine) return told('reason-false');
    if (!reason) return told('reason-unknown');
    const kind = spares.kindOf.get(name);
    if (!kind) {
      const bar = bars.find(({ code }) => code === reason.code);
      if (bar?.holds(machine, poolOf.get(machine.spec.pool), now)) return [];
      return told(isKnown(reason) ? 'reason-false' : 'reason-unknown');
    }
    const key = `${numbers.get(kind)} ${why}`;
    if (!known.has(key)) known.set(key, holdsFor(reason, kind));
    const holds = known.get(key);
    return holds === true ? [] : told(isKnown(reason) ? 'reason-false' : 'reason-unknown');
  });
}

const isKnown = ({ code }: Reason): boolean => code in reasons || bars.some((bar) => bar.code === code);

/** A pod may be kept away by several rules; lack of room is looked at by itself. */
const keptBy = (spares: Spares, shape: Shape, kind: SpareKind, rule: Rule): boolean =>
  rule === 'resources' ? !hasRoom(shape, kind.spot.free) : spares.misfits(shape, kind).has(rule);
