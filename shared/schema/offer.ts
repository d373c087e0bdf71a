import { z } from 'zod';
import { fromQuantities, parseQuantity } from '../core/cluster/resources.ts';
import type { Offer } from '../core/remote/offer.ts';
import { Quantity, Taint } from './quantity.ts';

/** As Liqo has them; short enough for the namespace that is named after it, `liqo-tenant-…`. */
export const ClusterID = z
  .string()
  .max(51)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and - only, as Liqo names clusters');

export const PublicKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be the base64 of an Ed25519 key, as bamel offers keygen prints it');

/** Without TLS only on this machine itself. */
const isSafe = ({ protocol, hostname, username, password, search, hash }: URL): boolean =>
  (protocol === 'https:' ||
    (protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname))) &&
  `${username}${password}${search}${hash}` === '';

export const DiscoveryUrl = z
  .string()
  .max(500)
  .refine(
    (text) => URL.canParse(text) && isSafe(new URL(text)),
    'must be an address such as https://bamel.example:8443/discovery, without a password in it',
  )
  // Paths are put behind it.
  .overwrite((text) => text.replace(/\/+$/, ''));

const rate = (what: string) =>
  z.number().min(0).max(1_000_000).optional().describe(`an hour of ${what}; nothing unless given`);

const Price = z
  .strictObject({
    slice: rate('each slice'),
    cpu: rate('a core'),
    memoryGiB: rate('a GiB of memory'),
    gpu: rate('a GPU'),
  })
  .describe('what an hour costs, in whatever money is agreed on; the parts add up');

/** What others may say about a node of ours is theirs to say; what schedulers and autoscalers go by is not. */
const ours = /^([^/]+\.)?(kubernetes\.io|k8s\.io|bamel\.dev|liqo\.io)\//;
const theirs =
  /^(kubernetes\.io\/(arch|os)|node\.kubernetes\.io\/instance-type|topology\.kubernetes\.io\/(region|zone))$/;

const labelKey = z
  .string()
  .min(1)
  .max(317)
  .refine((key) => !ours.test(key) || theirs.test(key), 'is not for a provider to set');
const few = 32;

/** The terms of an offer. */
export const OfferTerms = z.strictObject({
  name: z
    .string()
    .max(40)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and - only')
    .describe('unique among the offers of a cluster'),
  class: z
    .string()
    .min(1)
    .max(63)
    .default('default')
    .describe("the class of the ResourceSlices: Liqo's default grants whatever is asked for"),
  region: z.string().min(1).max(63).optional().describe('where it is, for those who prefer one'),
  resources: z
    .strictObject({
      cpu: Quantity.refine((cores) => (parseQuantity(cores) ?? 0) > 0, 'must be more than 0').describe(
        'cores',
      ),
      memory: Quantity.describe('memory'),
      gpu: z.int().nonnegative().max(10_000).optional().describe('counts as nvidia.com/gpu'),
      pods: z.int().positive().max(1_000_000).optional().describe('how many pods'),
    })
    .describe('everything that one peer may use, in one slice or several'),
  price: Price.prefault({}),
  labels: z
    .record(labelKey, z.string().max(63))
    .refine((labels) => Object.keys(labels).length <= few, `at most ${few}`)
    .optional()
    .describe('on the nodes that come of it'),
  taints: z.array(Taint).max(few).optional().describe('on the nodes that come of it'),
});

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** An offer as it is published and signed. */
export const PublishedOffer = OfferTerms.extend({
  schemaVersion: z.literal('v1alpha1'),
  clusterID: ClusterID,
  class: z.string().min(1).max(63),
  validFrom: time,
  validUntil: time,
  serial: z.int().positive().describe('grows with every publication'),
  endpoint: DiscoveryUrl,
});
export type PublishedOffer = z.output<typeof PublishedOffer>;

/** What travels: the offer as text, and who stands for it. */
export const SealedOffer = z.strictObject({
  payload: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\w-]+$/, 'must be base64url'),
  publicKey: PublicKey,
  signature: z.string().regex(/^[\w-]{86}$/, 'must be the base64url of an Ed25519 signature'),
});
export type SealedOffer = z.output<typeof SealedOffer>;

export const offerId = ({ clusterID, name }: Pick<PublishedOffer, 'clusterID' | 'name'>): string =>
  `${clusterID}.${name}`;

/** As decisions see it. */
export function toOffer(published: PublishedOffer): Offer {
  const { clusterID, region, price, labels, taints, validUntil, endpoint } = published;
  const { gpu, ...rest } = published.resources;
  return {
    id: offerId(published),
    provider: clusterID,
    class: published.class,
    region,
    resources: fromQuantities({ ...rest, 'nvidia.com/gpu': gpu }),
    price,
    labels,
    taints,
    validUntil,
    endpoint,
  };
}
