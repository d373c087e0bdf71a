import { HttpError } from '../server/http-response.ts';
import { OfferShape, PeeringShape } from './offer-shapes.ts';
import type { ApiRow } from './row.ts';

export const offerRows: readonly ApiRow[] = [
  {
    path: '/api/offers',
    summary: 'offers of provider clusters that were accepted',
    shape: OfferShape,
    list: true,
    volatile: true,
    answer: ({ remote }) => remote.offers(),
  },
  {
    path: '/api/offers/{name}',
    summary: 'one offer, by the id of its provider, a dot and its name',
    shape: OfferShape,
    volatile: true,
    answer: async ({ remote, name }) => {
      const found = (await remote.offers()).find(({ id }) => id === name);
      if (!found) throw new HttpError(404, `there is no offer ${name}`);
      return found;
    },
  },
  {
    path: '/api/peering',
    summary:
      'who asked our discovery for what, what came of it, and the offers that were refused; the latest first',
    shape: PeeringShape,
    list: true,
    volatile: true,
    answer: ({ remote }) => remote.peering(),
  },
];
