import { z } from 'zod';
import type { Remote as CoreRemote } from '../core/remote/remote-settings.ts';
import { durationMs } from './duration.ts';
import { ClusterID, DiscoveryUrl, OfferTerms, PublicKey } from './offer.ts';
import { Tls } from './tls.ts';

const address = (what: string) =>
  z.strictObject({
    url: DiscoveryUrl.describe(`${what}, such as https://bamel.example:8443/discovery`),
    tls: Tls.optional(),
    credentials: z
      .string()
      .min(1)
      .optional()
      .describe('a Secret, or a name in the credentials folder, whose token is sent'),
  });

const unique = <Item>(nameOf: (item: Item) => string) => ({
  check: (items: readonly Item[]): boolean => new Set(items.map(nameOf)).size === items.length,
  error: 'each may be there once only',
});
const once = unique(({ clusterID }: { clusterID: string }) => clusterID);
const onceNamed = unique(({ name }: { name: string }) => name);

/** Clusters that provide capacity to us, and those that we provide it to. */
export const Remote = z
  .strictObject({
    clusterID: ClusterID.optional().describe(
      "our cluster's id, as our Liqo has it; needed to offer anything",
    ),
    endpoint: DiscoveryUrl.optional().describe(
      'where others reach our discovery, such as https://bamel.example:8443/discovery; needed to offer anything',
    ),
    signingKey: z
      .string()
      .min(1)
      .optional()
      .describe(
        'a Secret, or a name in the credentials folder, whose privateKey signs our offers: bamel offers keygen makes it',
      ),
    openListing: z.boolean().default(false).describe('our listing needs no token'),
    trust: z
      .array(
        z.strictObject({
          clusterID: ClusterID.describe('its cluster id'),
          publicKey: PublicKey.describe('what its offers are signed with'),
          maxPrice: z
            .number()
            .nonnegative()
            .optional()
            .describe('offers that cost more per core and hour, with what comes along, are not taken'),
        }),
      )
      .max(1_000)
      .refine(once.check, once.error)
      .default([])
      .describe('provider clusters whose offers are accepted, and no others'),
    sources: z.array(address('a listing of offers')).max(100).default([]).describe('where offers are read'),
    offers: z
      .array(OfferTerms)
      .max(100)
      .refine(onceNamed.check, onceNamed.error)
      .default([])
      .describe('the offers that we publish'),
    publishTo: z
      .array(address('a registry'))
      .max(20)
      .default([])
      .describe('where our offers are sent, besides our own listing'),
    peers: z
      .array(
        z.strictObject({
          clusterID: ClusterID.describe('its cluster id'),
          publicKey: PublicKey.describe("its Liqo's public key"),
          validUntil: z.iso
            .datetime({ offset: true })
            .optional()
            .describe('not from then on, such as 2027-01-31T00:00:00Z'),
        }),
      )
      .max(1_000)
      .refine(once.check, once.error)
      .default([])
      .describe('consumer clusters that may use our offers, and no others'),
    refreshEvery: durationMs
      .refine((ms) => ms >= 1_000 && ms <= 3_600_000, 'write 1s to 1h')
      .prefault('1m')
      .describe('how often offers are read and published; ours are valid for three times as long'),
  })
  .superRefine(({ offers, ...remote }, context) => {
    if (offers.length === 0) return;
    for (const field of ['clusterID', 'endpoint', 'signingKey'] as const)
      if (remote[field] === undefined)
        context.addIssue({ code: 'custom', path: [field], message: 'is needed to offer something' });
  })
  .prefault({})
  .transform(
    ({ refreshEvery, peers, ...remote }): CoreRemote => ({
      ...remote,
      peers: peers.map(({ validUntil, ...peer }) => ({
        ...peer,
        ...(validUntil !== undefined && { validUntil: Date.parse(validUntil) }),
      })),
      refreshEveryMs: refreshEvery,
    }),
  )
  .describe('provider clusters that we use, and consumer clusters that use ours');
