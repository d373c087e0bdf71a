import type { Intent } from '../decide/decision.ts';
import type { MachineSpec } from '../machine/machine.ts';
import { because, type Reason } from '../reasons/reason.ts';
import type { Chosen } from './greedy.ts';
import { describeMade } from './on-demand.ts';
import { billOf } from './policies.ts';

/** To power it on; or, where it is on already, to make it larger. */
export const intentOf = (
  { machine, box: { shelf }, addition }: Pick<Chosen, 'machine' | 'box' | 'addition'>,
  why: Reason,
): Intent => ({
  kind: addition ? 'resize' : 'power-on',
  machine: machine.spec.name,
  ...because(shelf.make?.lending ? atPrice(why, machine.spec, addition) : why),
  ...(shelf.make && { make: describeMade(machine) }),
});

const atPrice = (why: Reason, spec: MachineSpec, addition: MachineSpec | undefined): Reason => ({
  code: 'at-price',
  because: why,
  offer: addition ? undefined : spec.offer,
  price: (addition ?? spec).pricing?.hourlyRate ?? 0,
});

/** Only what is lent is told the price of: others have theirs in their description. */
export const priceOf = (one: Chosen): number | undefined =>
  one.box.shelf.make?.lending && billOf(one).pricing?.hourlyRate;
