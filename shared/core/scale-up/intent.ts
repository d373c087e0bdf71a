import type { Intent } from '../decide/decision.ts';
import type { Machine, MachineSpec } from '../machine/machine.ts';
import { money } from '../remote/slice-rules.ts';
import type { Chosen } from './greedy.ts';
import { describeMade } from './on-demand.ts';
import { billOf } from './policies.ts';

/** To power it on; or, where it is on already, to make it larger. */
export const intentOf = (
  { machine, box: { shelf }, addition }: Pick<Chosen, 'machine' | 'box' | 'addition'>,
  why: string,
): Intent => ({
  kind: addition ? 'resize' : 'power-on',
  machine: machine.spec.name,
  why: shelf.make?.lending ? `${why}, ${termsOf(machine, addition)}` : why,
  ...(shelf.make && { make: describeMade(machine) }),
});

const termsOf = ({ spec }: Machine, addition: MachineSpec | undefined): string => {
  const price = money((addition ?? spec).pricing?.hourlyRate ?? 0);
  return addition ? `made larger for ${price} per hour more` : `lent by ${spec.offer} for ${price} per hour`;
};

/** Only what is lent is told the price of: others have theirs in their description. */
export const priceOf = (one: Chosen): number | undefined =>
  one.box.shelf.make?.lending && billOf(one).pricing?.hourlyRate;
