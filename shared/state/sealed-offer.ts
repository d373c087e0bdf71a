import type { z } from 'zod';
import { corePrice } from '../core/remote/offer.ts';
import type { OfferTerms, TrustedProvider } from '../core/remote/remote-settings.ts';
import { isSignedBy, signerOf } from '../crypto/ed25519.ts';
import { PublishedOffer, SealedOffer, toOffer } from '../schema/offer.ts';
import { describeProblem, fieldProblems } from '../schema/zod-issue.ts';

/** Domain separation: a signature of other data is never valid for an offer. */
const domain = 'bamel.dev/offer.v1\n';

/** Tolerated clock difference. */
const skewMs = 60_000;

/** The longest validity that an offer may have. */
const maxValidityMs = 24 * 3_600_000;

type RefusalReason =
  | 'malformed'
  | 'untrusted'
  | 'forged'
  | 'wrong-cluster'
  | 'not-yet-valid'
  | 'expired'
  | 'older'
  | 'too-expensive';

export interface OfferRefusal {
  readonly reason: RefusalReason;
  readonly why: string;
  /** The offer, if its signature is valid. */
  readonly published?: PublishedOffer;
}

export interface VerifiedOffer {
  readonly published: PublishedOffer;
  readonly sealed: SealedOffer;
}

export interface Publication {
  readonly clusterID: string;
  readonly endpoint: string;
  readonly validFrom: number;
  readonly validUntil: number;
  readonly serial: number;
}

/** Signs an offer of ours. Throws if the key is not valid. */
export function sealOffer(
  terms: OfferTerms,
  { validFrom, validUntil, ...rest }: Publication,
  privateKey: string,
): SealedOffer {
  const { publicKey, sign } = signerOf(privateKey);
  const published: z.input<typeof PublishedOffer> = {
    schemaVersion: 'v1alpha1',
    ...rest,
    ...terms,
    taints: terms.taints && ([...terms.taints] as z.input<typeof PublishedOffer>['taints']),
    validFrom: new Date(validFrom).toISOString(),
    validUntil: new Date(validUntil).toISOString(),
  };
  const payload = Buffer.from(JSON.stringify(published)).toString('base64url');
  return { payload, publicKey, signature: sign(`${domain}${payload}`).toString('base64url') };
}

/**
 * Verifies the signature, validity and price of an offer. Its payload is parsed only after a trusted key has
 * signed it.
 */
export function verifyOffer(
  input: unknown,
  { trust, now }: { readonly trust: readonly TrustedProvider[]; readonly now: number },
): VerifiedOffer | OfferRefusal {
  const shape = SealedOffer.safeParse(input);
  if (!shape.success) return { reason: 'malformed', why: problems(SealedOffer, shape.error) };
  const sealed = shape.data;
  const { payload, publicKey, signature } = sealed;
  const holders = trust.filter((one) => one.publicKey === publicKey);
  if (holders.length === 0)
    return { reason: 'untrusted', why: `remote.trust does not contain the key ${publicKey}` };
  if (!isSignedBy(publicKey, `${domain}${payload}`, Buffer.from(signature, 'base64url')))
    return { reason: 'forged', why: 'the signature does not match: the offer was changed in transit' };
  const parsed = PublishedOffer.safeParse(parsePayload(payload));
  if (!parsed.success) return { reason: 'malformed', why: problems(PublishedOffer, parsed.error) };
  const published = parsed.data;
  const holder = holders.find(({ clusterID }) => clusterID === published.clusterID);
  if (!holder)
    return {
      reason: 'wrong-cluster',
      why: `it is signed by ${holders[0]?.clusterID}, which may not offer for ${published.clusterID}`,
    };
  const problem = validityProblem(published, now) ?? priceProblem(published, holder);
  return problem ? { ...problem, published } : { published, sealed };
}

function validityProblem({ validFrom, validUntil }: PublishedOffer, now: number): OfferRefusal | undefined {
  if (validUntil <= validFrom || validUntil - validFrom > maxValidityMs)
    return { reason: 'malformed', why: 'it must be valid for some time, and for a day at most' };
  if (validFrom > now + skewMs)
    return { reason: 'not-yet-valid', why: `it begins at ${iso(validFrom)}: compare the clocks` };
  if (validUntil <= now) return { reason: 'expired', why: `it ended at ${iso(validUntil)}` };
  return undefined;
}

function priceProblem(published: PublishedOffer, { maxPrice }: TrustedProvider): OfferRefusal | undefined {
  const price = corePrice(toOffer(published));
  return maxPrice !== undefined && price > maxPrice
    ? { reason: 'too-expensive', why: `an hour of a core costs ${price}, more than ${maxPrice}` }
    : undefined;
}

const iso = (at: number): string => new Date(at).toISOString();

/** Undefined if it is not JSON; the schema then rejects it. */
function parsePayload(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

const problems = (schema: z.ZodType, error: z.ZodError): string =>
  fieldProblems(schema, error).map(describeProblem).join('; ');
