import type { OfferVerdict } from '../decide/decision.ts';
import { misfitOn } from '../decide/explain-unmet.ts';
import { because, type Reason } from '../reasons/reason.ts';
import type { Chooser } from '../scale-up/chooser.ts';
import type { Chosen } from '../scale-up/greedy.ts';
import { head, type Shelf } from '../scale-up/machine-groups.ts';
import type { Lending } from '../scale-up/maker.ts';
import { everyone, pack } from '../scale-up/pack.ts';
import type { Task } from '../scale-up/planning-context.ts';
import { billOf } from '../scale-up/policies.ts';
import { measure } from '../scale-up/sizes.ts';
import { demandOf } from '../scale-up/try-machine.ts';
import type { PoolSpec } from '../settings.ts';
import { mark, rollback } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import type { Refused } from './remote-slices.ts';
import { leastOf, trySlice } from './slice-sizing.ts';

/** What one slice of an offer would hold of all pods that need one, before anything is chosen. */
export interface Quote {
  readonly shelf: Shelf;
  readonly offer: string;
  readonly pool: PoolSpec;
  readonly pods: number;
  readonly needy: number;
  readonly price: number;
  /** What a pod of average size would cost. */
  readonly rate: number;
  /** Why it would hold nobody. */
  readonly why?: Reason | undefined;
}

/** For the record: nobody needs them to decide. Leaves the world as it was. */
export function quotesOf({ chooser, groups, mayAsk, running, coming }: Task): Quote[] {
  const { world, room } = chooser;
  const shelves = chooser.shelves.flatMap((shelf) => {
    const lending = shelf.make?.lending;
    return lending && !lending.grows ? [{ shelf, lending }] : [];
  });
  if (shelves.length === 0) return [];
  const start = mark(world);
  const order = groups.map((_, index) => index);
  const left = everyone(groups);
  pack(world, groups, order, [...running, ...coming], left);
  const { share } = measure(
    groups,
    shelves.map(({ shelf }) => shelf.example.spec.resources),
  );
  const needy = left.reduce((sum, pods) => sum + pods, 0);
  const demand = demandOf(world, groups, order, left, share, mayAsk);
  const quotes = shelves.map(({ shelf, lending }) =>
    quoteOf(shelf, lending, () => trySlice(world, shelf, lending, room, demand)),
  );
  rollback(world, start);
  return quotes;

  function quoteOf(shelf: Shelf, { offer }: Lending, tried: () => ReturnType<typeof trySlice>): Quote {
    const { pool, example } = shelf;
    const quote = { shelf, offer: offer.id, pool, needy };
    const nothing = { ...quote, pods: 0, price: 0, rate: 0 };
    const limit = room.refusal(leastOf(shelf, example));
    if (needy === 0 || limit) return { ...nothing, why: needy === 0 ? { code: 'not-needed' } : limit };
    const { pods, served, slice } = tried();
    const price = slice?.machine.spec.pricing?.hourlyRate ?? 0;
    if (pods > 0) return { ...quote, pods, price, rate: price / served };
    const first = groups.find((_, index) => (left[index] ?? 0) > 0);
    const misfit = first && misfitOn(world, first.kind, example);
    return { ...nothing, why: misfit ?? { code: 'no-pod-within-limits' } };
  }
}

/** Less of a difference is none. */
const tolerance = 1.01;

/** What became of every offer, and why. */
export function offerVerdicts(
  chooser: Chooser,
  quotes: readonly Quote[],
  chosen: readonly Chosen[],
  refused: readonly Refused[],
): OfferVerdict[] {
  const taken = (quote: Quote): Chosen[] =>
    chosen.filter(({ machine: { spec } }) => spec.offer === quote.offer && spec.pool === quote.pool.name);
  const winners = quotes.filter((quote) => taken(quote).length > 0);
  const verdicts = quotes.map((quote): OfferVerdict => {
    const { offer, pool, pods, needy } = quote;
    const mine = taken(quote);
    const about = { offer, pool: pool.name };
    if (mine.length > 0) {
      const price = mine.reduce((sum, one) => sum + (billOf(one).pricing?.hourlyRate ?? 0), 0);
      const slices = mine.map(({ machine }) => machine.spec.name);
      const verdict = mine.some(({ addition }) => !addition) ? 'power-on' : 'resize';
      const limit = limitOf(chooser, quote);
      return { ...about, verdict, ...because({ code: 'offer-taken', slices, price, limit }), pods, price };
    }
    if (quote.why !== undefined) return { ...about, verdict: 'rejected', ...because(quote.why) };
    const { price } = quote;
    const not = whyNot(chooser, quote, winners, chosen);
    const why = because({ code: 'offer-not-chosen', pods, needy, price, because: not });
    return { ...about, verdict: 'rejected', ...why, pods, price };
  });
  return [
    ...verdicts,
    ...refused.map(
      ({ offer, pool, why }): OfferVerdict => ({
        offer: offer.id,
        pool,
        verdict: 'rejected',
        ...because(why),
      }),
    ),
  ].sort((a, b) => byText(a.offer, b.offer) || byText(a.pool, b.pool));
}

/** Why no more is taken of it. */
function limitOf({ room }: Chooser, { shelf }: Quote): Reason | undefined {
  const [box] = shelf.boxes;
  const next = box && head(box);
  return next && room.refusal(leastOf(shelf, next));
}

function whyNot(
  chooser: Chooser,
  quote: Quote,
  winners: readonly Quote[],
  chosen: readonly Chosen[],
): Reason {
  const cheaper = winners.find((winner) => winner.rate * tolerance < quote.rate);
  if (cheaper) return { code: 'more-expensive', offer: cheaper.offer };
  const limit = limitOf(chooser, quote);
  if (limit) return limit;
  const [other] = winners;
  if (other) return { code: 'no-better', offer: other.offer };
  return { code: chosen.length > 0 ? 'own-machines-first' : 'not-needed' };
}
