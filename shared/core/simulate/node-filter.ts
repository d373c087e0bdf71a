import type { Labels, NodeTerm, Taint, Toleration } from '../cluster/cluster.ts';
import type { Reason } from '../reasons/reason.ts';
import { grown } from './arrays.ts';
import { describeTerm, labelOf, termHolds } from './requirements.ts';
import { cordon, describeTaint, untolerated } from './taints.ts';
import { type VolumeNeed, volumeMisfit } from './volumes.ts';

/** Places that no pod can tell apart but by what is on them and where they stand. */
export interface NodeClass {
  readonly id: number;
  /** As far as anybody asks. */
  readonly labels: Labels;
  readonly name: string;
  readonly taints: readonly Taint[];
  readonly cordoned: boolean;
}

/** Answers by class, found once: 0 not asked yet, 1 yes, 2 no. */
interface Memo {
  answers: Uint8Array;
}

/** Node selector and required node affinity. */
export interface Where extends Memo {
  readonly selector: Labels;
  readonly terms: readonly NodeTerm[] | undefined;
}

export interface Tolerance extends Memo {
  readonly tolerations: readonly Toleration[];
}

/** All that a pod asks of a place before looking at what is on it. */
export interface Ask extends Memo {
  readonly where: Where;
  readonly tolerance: Tolerance;
  readonly volumes: VolumeNeed | undefined;
}

export const noAnswers = (): Uint8Array => new Uint8Array(0);

/** The memo's answer for the class, judged when it is asked for the first time. */
function remembered<Asker extends Memo>(
  asker: Asker,
  place: NodeClass,
  judge: (asker: Asker, place: NodeClass) => Reason | undefined,
): boolean {
  if (place.id >= asker.answers.length) asker.answers = grown(asker.answers, place.id + 1);
  const known = asker.answers[place.id];
  if (known) return known === 1;
  const yes = judge(asker, place) === undefined;
  asker.answers[place.id] = yes ? 1 : 2;
  return yes;
}

export const whereHolds = (where: Where, place: NodeClass): boolean => remembered(where, place, whereMisfit);
export const isTolerated = (tolerance: Tolerance, place: NodeClass): boolean =>
  remembered(tolerance, place, taintMisfit);
export const askHolds = (ask: Ask, place: NodeClass): boolean => remembered(ask, place, askMisfit);

const cordoned: Reason = { code: 'cordoned' };

/** Why no place of the class will do, or undefined. */
export function askMisfit({ where, tolerance, volumes }: Ask, place: NodeClass): Reason | undefined {
  return (
    whereMisfit(where, place) ??
    taintMisfit(tolerance, place) ??
    (place.cordoned && untolerated([cordon], tolerance.tolerations) ? cordoned : undefined) ??
    (volumes && volumeMisfit(volumes, place.labels, place.name))
  );
}

function whereMisfit({ selector, terms }: Where, { labels, name }: NodeClass): Reason | undefined {
  for (const [key, value] of Object.entries(selector))
    if (labelOf(labels, key) !== value) return { code: 'label-needed', key, value };
  if (!terms || terms.some((term) => termHolds(term, labels, name))) return undefined;
  return { code: 'node-affinity', terms: terms.map(describeTerm).join(' or ') };
}

function taintMisfit({ tolerations }: Tolerance, { taints }: NodeClass): Reason | undefined {
  const taint = untolerated(taints, tolerations);
  return taint && { code: 'taint-not-tolerated', taint: describeTaint(taint) };
}
