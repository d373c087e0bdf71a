import { OfferShape, type OfferView, PeeringShape, type PeeringView } from '../shared/view/offer-shapes.ts';
import type { Kind } from './kind.ts';
import { money } from './output/offer.ts';
import { age, amounts } from './output/words.ts';

export const offers: Kind<OfferView> = {
  name: 'offers',
  one: 'offer',
  short: ['of'],
  path: '/api/offers',
  shape: OfferShape,
  nameOf: ({ id }) => id,
  columns: [
    { title: 'OFFER', of: ({ id }) => id },
    { title: 'PROVIDER', of: ({ provider }) => provider, wide: true },
    { title: 'CLASS', of: (offer) => offer.class },
    { title: 'REGION', of: ({ region }) => region },
    { title: 'SIZE', of: ({ resources }) => amounts(resources) },
    { title: 'PER CORE-HOUR', of: ({ corePrice }) => money(corePrice) },
    { title: 'VALID FOR', of: ({ validUntil, usable }, now) => (usable ? age(now, validUntil) : undefined) },
    { title: 'LATENCY', of: ({ latencyMs }) => (latencyMs === undefined ? undefined : `${latencyMs} ms`) },
    {
      title: 'USABLE',
      of: ({ usable, why }) => (usable ? 'yes' : `no: ${why ?? 'not known why'}`),
      tone: ({ usable }) => (usable ? 'good' : 'bad'),
    },
    { title: 'ENDPOINT', of: ({ endpoint }) => endpoint, wide: true },
    { title: 'FROM', of: ({ from }) => from, wide: true },
  ],
};

export const peering: Kind<PeeringView> = {
  name: 'peering',
  one: 'request',
  short: ['pr'],
  path: '/api/peering',
  shape: PeeringShape,
  nameOf: ({ who }) => who,
  columns: [
    { title: 'AGE', of: ({ at }, now) => age(at, now) },
    { title: 'WHAT', of: ({ what }) => what },
    { title: 'CLUSTER', of: ({ who }) => who },
    { title: 'FROM', of: ({ from }) => from },
    {
      title: 'RESULT',
      of: ({ result }) => result,
      tone: ({ result }) => (result === 'accepted' ? 'good' : 'bad'),
    },
    { title: 'TIMES', of: ({ times }) => times },
    { title: 'WHY', of: ({ why }) => why },
  ],
};
