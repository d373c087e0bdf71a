import type { OfferView } from '../../shared/view/offer-shapes.ts';
import { section, time } from './section.ts';
import { amounts } from './words.ts';

export const money = (amount: number): string => amount.toFixed(4).replace(/\.?0+$/, '');

const pairs = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

const priceText = ({ slice, cpu, memoryGiB, gpu }: OfferView['price']): string =>
  [
    slice !== undefined && `${money(slice)} a slice`,
    cpu !== undefined && `${money(cpu)} a core`,
    memoryGiB !== undefined && `${money(memoryGiB)} a GiB`,
    gpu !== undefined && `${money(gpu)} a GPU`,
  ]
    .filter(Boolean)
    .join(', ') || 'nothing';

/** All about an offer. */
export const offerText = (offer: OfferView): string =>
  section([
    ['Offer', offer.id],
    ['Provider', offer.provider],
    ['Usable', offer.usable ? 'yes' : `no: ${offer.why ?? 'not known why'}`],
    ['Class', offer.class],
    ['Region', offer.region],
    ['Size', amounts(offer.resources)],
    ['An hour', priceText(offer.price)],
    ['Core-hour', money(offer.corePrice)],
    ['Valid until', time(offer.validUntil)],
    ['Latency', offer.latencyMs === undefined ? undefined : `${offer.latencyMs} ms`],
    ['Endpoint', offer.endpoint],
    ['Labels', pairs(offer.labels)],
    [
      'Taints',
      offer.taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`).join(', '),
    ],
    ['Signed with', offer.publicKey],
    ['Serial', offer.serial],
    ['Received', time(offer.receivedAt)],
    ['From', offer.from],
  ]);
