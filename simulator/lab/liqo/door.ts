import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import type { Provider } from './provider.ts';

/** What a provider publishes of itself; the door adds who and where it is. */
interface PublishedOffer {
  readonly name: string;
  readonly resources: Readonly<Record<string, string | number>>;
  readonly price: Readonly<Record<string, number>>;
  readonly class?: string;
  readonly region?: string;
  readonly validForMs?: number;
}

export interface Door {
  /** Where offers and peering answer. */
  readonly endpoint: string;
  /** Base64 of the raw key that its offers are sealed with. */
  readonly publicKey: string;
  /** From now on it offers this. */
  publish(offers: readonly PublishedOffer[]): void;
  close(): Promise<void>;
}

const Nonce = z.strictObject({ clusterID: z.string() });
const Peering = z.strictObject({
  clusterID: z.string(),
  publicKey: z.string(),
  csr: z.string(),
  signature: z.string(),
});

/** The discovery service of a provider: it lists its offers, sealed, and takes part in the exchange. */
export async function openDoor(provider: Provider): Promise<Door> {
  const { privateKey, publicKey: key } = generateKeyPairSync('ed25519');
  const publicKey = key.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
  let offered: readonly PublishedOffer[] = [];
  let serial = Date.now();
  let endpoint = '';

  /** Each time it is asked it publishes anew. */
  const sealed = ({ validForMs = 3_600_000, class: kind = 'default', ...offer }: PublishedOffer) => {
    const valid = {
      validFrom: new Date(Date.now() - 60_000),
      validUntil: new Date(Date.now() + validForMs),
    };
    const whole = { schemaVersion: 'v1alpha1', clusterID: provider.id, class: kind, endpoint, serial };
    const payload = Buffer.from(JSON.stringify({ ...whole, ...offer, ...valid })).toString('base64url');
    const signature = sign(null, Buffer.from(`bamel.dev/offer.v1\n${payload}`), privateKey);
    return { payload, publicKey, signature: signature.toString('base64url') };
  };

  const answers: Readonly<Record<string, (body: unknown) => object | undefined>> = {
    'GET /discovery/offers': () => {
      serial += 1;
      return { offers: offered.map(sealed) };
    },
    'POST /discovery/peering/nonce': (body) => ({ nonce: provider.nonce(Nonce.parse(body).clusterID) }),
    'POST /discovery/peering': (body) => provider.exchange(Peering.parse(body)),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const work = answers[`${request.method} ${request.url}`];
    const body = request.method === 'POST' ? await json(request) : undefined;
    const result = work?.(body);
    response.writeHead(result ? 200 : work ? 403 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(result ?? { error: 'the signature does not fit the nonce' }));
  };
  const server = createServer((request, response) => {
    // Like its API server, it takes what it is sent and says nothing.
    if (!provider.reachable) return;
    answer(request, response).catch((error: unknown) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/discovery`;
  return {
    endpoint,
    publicKey,
    publish(offers) {
      offered = offers;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
