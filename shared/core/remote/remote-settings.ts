import type { Taint } from '../cluster/cluster.ts';
import type { Price } from './offer.ts';

/** How another's certificate is checked; without any, by the CAs that the system knows. */
interface Certificate {
  readonly caFile?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly insecure?: true | undefined;
}

/** Where discovery of another cluster answers. */
export interface DiscoveryAddress {
  readonly url: string;
  readonly tls?: Certificate | undefined;
  /** Whose `token` is sent. */
  readonly credentials?: string | undefined;
}

/** Our offers as published: amounts as Kubernetes quantities. */
export interface OfferTerms {
  readonly name: string;
  readonly class: string;
  readonly region?: string | undefined;
  readonly resources: {
    readonly cpu: string | number;
    readonly memory: string | number;
    readonly gpu?: number | undefined;
    readonly pods?: number | undefined;
  };
  readonly price: Price;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
}

/** Whose offers are taken. */
export interface TrustedProvider {
  readonly clusterID: string;
  /** Base64 of the raw Ed25519 key that its offers are signed with. */
  readonly publicKey: string;
  /** Per core and hour; see `corePrice`. */
  readonly maxPrice?: number | undefined;
}

/** Who may borrow from us. */
export interface PeerCluster {
  readonly clusterID: string;
  /** Base64 of the raw Ed25519 key of its Liqo. */
  readonly publicKey: string;
  /** Milliseconds since the epoch; for ever unless given. */
  readonly validUntil?: number | undefined;
}

/** Clusters that provide capacity to us, and those that we provide it to. */
export interface Remote {
  readonly clusterID?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly signingKey?: string | undefined;
  readonly openListing: boolean;
  readonly trust: readonly TrustedProvider[];
  readonly sources: readonly DiscoveryAddress[];
  readonly offers: readonly OfferTerms[];
  readonly publishTo: readonly DiscoveryAddress[];
  readonly peers: readonly PeerCluster[];
  readonly refreshEveryMs: number;
}

export const defaultRemote: Remote = {
  openListing: false,
  trust: [],
  sources: [],
  offers: [],
  publishTo: [],
  peers: [],
  refreshEveryMs: 60_000,
};
