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
  readonly why: string;
  readonly kind: SpareKind;
  readonly spares: Spares;
  readonly leftovers: readonly Leftover[];
  /** Some waiting pod is kept from the machine by the rule. */
  readonly some: (rule: Rule, also?: (shape: Shape, spot: Spot) => boolean) => boolean;
}

interface Reason {
  readonly told: RegExp;
  readonly holds: (question: Question, match: RegExpExecArray) => boolean;
}

const byRule =
  (rule: Rule): Reason['holds'] =>
  ({ some }) =>
    some(rule);

/** Every reason that a decision gives for leaving a machine off that may be powered on, and when it is true. */
const reasons: readonly Reason[] = [
  {
    told: /^not needed$/,
    holds: ({ leftovers, kind, spares }) => !leftovers.some((one) => wouldServe(one, kind, spares)),
  },
  {
    told: /^(pool \S+|the cluster) (is at|has \d+ on their way)|power-ons per minute$/,
    holds: ({ given, kind, why }) =>
      given.limits.refusals(kind.example.spec).some(({ text }) => why.startsWith(text)),
  },
  {
    told: /^\S+ (\S+) wanted, \S+ \S+ free$/,
    holds: ({ given, some }, [, name = '']) => {
      const column = given.book.columns.get(name);
      const lacks = ({ columns, amounts }: Shape, { free }: Spot): boolean =>
        columns.some((one, index) => one === column && (free[one] as number) < (amounts[index] as number));
      return column !== undefined && some('resources', lacks);
    },
  },
  { told: /^taint \S+ not tolerated$/, holds: byRule('taints') },
  {
    told: /^needs label (\S+) to be spread by$/,
    holds: ({ kind, some }, [, key = '']) => !Object.hasOwn(kind.spot.facts.labels, key) && some('spread'),
  },
  {
    told: /^needs label ([^=\s]+)=(\S*)$/,
    holds: ({ kind, some }, [, key = '', value]) =>
      kind.spot.facts.labels[key] !== value &&
      some('labels', ({ example }) => example.nodeSelector[key] === value),
  },
  { told: /^needs .* in the same /, holds: byRule('affinity') },
  { told: /^needs /, holds: byRule('labels') },
  {
    told: /^(volume \S+ needs|claim \S+ needs|claim \S+ is being made on|no free volume for claim) /,
    holds: byRule('volumes'),
  },
  { told: /^(anti-affinity to|a pod with anti-affinity to) .* in the same /, holds: byRule('anti-affinity') },
  { told: /^host port \S+ \d+ is taken on /, holds: byRule('ports') },
  { told: /^claim \S+ is for one pod only and in use/, holds: byRule('claim') },
  { told: /^would be -?\d+ more than elsewhere by \S+, \d+ allowed$/, holds: byRule('spread') },
  {
    told: /^(is held back by scheduling gate|claim \S+ (does not exist|is being deleted|is not bound yet)|the volume of claim)/,
    holds: byRule('impossible'),
  },
];

/** The reason of every machine that was rejected is one that the judge knows, and is true of that machine. */
export function judgeReasons(given: Case, spares: Spares, leftovers: readonly Leftover[]): Finding[] {
  const { decision, snapshot, poolOf, now, demand, book } = given;
  const machineOf = new Map(snapshot.machines.map((machine) => [machine.spec.name, machine]));
  const shapes = [...new Set(demand.map((pod) => book.shapeOf(pod)))];
  const known = new Map<string, boolean | undefined>();
  const numbers = new Map([...spares.kinds].map((kind, index) => [kind, index]));

  const holdsFor = (why: string, kind: SpareKind): boolean | undefined => {
    const some: Question['some'] = (rule, also = () => true) =>
      shapes.some((shape) => keptBy(spares, shape, kind, rule) && also(shape, kind.spot));
    for (const { told, holds } of reasons) {
      const match = told.exec(why);
      if (match) return holds({ given, why, kind, spares, leftovers, some }, match);
    }
    return undefined;
  };

  return decision.candidates.flatMap(({ machine: name, verdict, why }): Finding[] => {
    if (verdict !== 'rejected') return [];
    const told = (code: 'reason-false' | 'reason-unknown'): Finding[] => [
      { code, machine: name, text: `${name}: ${why}` },
    ];
    const machine = machineOf.get(name);
    if (!machine) return told('reason-false');
    const kind = spares.kindOf.get(name);
    if (!kind) {
      const bar = bars.find((one) => one.told.test(why));
      if (bar?.holds(machine, poolOf.get(machine.spec.pool), now)) return [];
      return told(isKnown(why) ? 'reason-false' : 'reason-unknown');
    }
    const key = `${numbers.get(kind)} ${why}`;
    if (!known.has(key)) known.set(key, holdsFor(why, kind));
    const holds = known.get(key);
    return holds === true ? [] : told(isKnown(why) ? 'reason-false' : 'reason-unknown');
  });
}

const isKnown = (why: string): boolean => [...reasons, ...bars].some(({ told }) => told.test(why));

/** A pod may be kept away by several rules; lack of room is looked at by itself. */
const keptBy = (spares: Spares, shape: Shape, kind: SpareKind, rule: Rule): boolean =>
  rule === 'resources' ? !hasRoom(shape, kind.spot.free) : spares.misfits(shape, kind).has(rule);
