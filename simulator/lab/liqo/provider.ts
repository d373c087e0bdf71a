import { createPublicKey, randomBytes, verify } from 'node:crypto';
import type { Slice } from './types.ts';

/** What a provider makes of a slice; undefined: nobody there judges that class, it waits. */
export type Verdict =
  | { readonly granted: Readonly<Record<string, string>> }
  | { readonly denied: { readonly reason: string; readonly message: string } }
  | undefined;

export type Judge = (asked: Readonly<Record<string, string>>, slice: Slice) => Verdict;

export interface PeeringRequest {
  readonly clusterID: string;
  /** Base64 of the raw 32 bytes. */
  readonly publicKey: string;
  readonly csr: string;
  readonly signature: string;
}

/** Class default gets whatever it asks for; other classes wait for a controller of the provider's own. */
const grantsDefault: Judge = (asked, { spec }) =>
  spec.class === undefined || spec.class === 'default'
    ? { granted: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '20Gi', ...asked } }
    : undefined;

const denied = { reason: 'ResourceSliceResourcesDenied', message: 'ResourceSlice resources denied' };
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** A cluster that lends: only as much of it as its neighbour's Liqo gets to see. */
export class Provider {
  readonly id: string;
  readonly #changed: () => void;
  #judge: Judge;
  #reachable = true;
  #tenant: 'Active' | 'Cordoned' | 'Drained' = 'Active';
  readonly #nonces = new Map<string, string>();
  /** What it keeps of each slice: what it granted, as long as it has not heard of the end. */
  readonly slices = new Map<string, Verdict>();

  constructor(id: string, changed: () => void, judge: Judge = grantsDefault) {
    this.id = id;
    this.#changed = changed;
    this.#judge = judge;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Its API server answers nobody any more, as with SIGSTOP; or answers again. */
  setReachable(reachable: boolean): void {
    this.#reachable = reachable;
    this.#changed();
  }

  /** Cordoned: slices it has not accepted yet are denied. Drained: all are. Active: what was denied flips. */
  setTenant(condition: 'Active' | 'Cordoned' | 'Drained'): void {
    this.#tenant = condition;
    this.#changed();
  }

  setJudge(judge: Judge): void {
    this.#judge = judge;
    this.#changed();
  }

  /** Hears of a slice, for the first time or again. */
  consider(slice: Slice): Verdict {
    const before = this.slices.get(slice.metadata.name);
    const accepted = before !== undefined && 'granted' in before;
    const refuses = this.#tenant === 'Drained' || (this.#tenant === 'Cordoned' && !accepted);
    const verdict = refuses ? { denied } : this.#judge(slice.spec.resources ?? {}, slice);
    this.slices.set(slice.metadata.name, verdict);
    return verdict;
  }

  /** The first half of the peering exchange. */
  nonce(clusterID: string): string {
    const nonce = randomBytes(32).toString('hex');
    this.#nonces.set(clusterID, nonce);
    return nonce;
  }

  /** The second half; undefined where the signature does not fit the nonce, or that was used already. */
  exchange({ clusterID, publicKey, csr, signature }: PeeringRequest) {
    const nonce = this.#nonces.get(clusterID);
    if (nonce === undefined || !signedBy(publicKey, nonce, signature)) return undefined;
    if (!Buffer.from(csr, 'base64').toString().includes('BEGIN CERTIFICATE REQUEST')) return undefined;
    this.#nonces.delete(clusterID);
    const pem = (what: string) => Buffer.from(`${what} of ${this.id} for ${clusterID}`).toString('base64');
    return {
      tenantNamespace: `liqo-tenant-${clusterID}`,
      authParams: { apiServer: `https://${this.id}.test:6443`, ca: pem('ca'), signedCRT: pem('certificate') },
    };
  }
}

/** Whether the owner of a raw Ed25519 key, in base64, signed the text. */
export function signedBy(publicKey: string, text: string, signature: string): boolean {
  const raw = Buffer.from(publicKey, 'base64');
  if (raw.length !== 32) return false;
  const key = createPublicKey({ key: Buffer.concat([ed25519Prefix, raw]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}
