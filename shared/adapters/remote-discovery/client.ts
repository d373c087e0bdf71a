import { once } from 'node:events';
import { connect } from 'node:net';
import { z } from 'zod';
import type { DiscoveryAddress } from '../../core/remote/remote-settings.ts';
import { hostOf } from '../../http/address.ts';
import { accepted, parsed } from '../../http/answers.ts';
import { type HttpPeer, httpRequest } from '../../http/peer.ts';
import { type DriverDeps, PowerError } from '../../ports/power.ts';
import type { SealedOffer } from '../../schema/offer.ts';

const longestMs = 10_000;
const longestConnectMs = 2_000;

/** Maximum number of offers: each costs a signature check. */
const mostOffers = 1_000;
const Listing = z.object({ offers: z.array(z.unknown()).max(mostOffers) });

/** Whoever may not call others has neither. */
export interface AskDeps {
  readonly resolve?: DriverDeps['resolve'] | undefined;
  readonly credentials?: DriverDeps['credentials'] | undefined;
}

const fail = (code: PowerError['code'], message: string, retryAfterMs?: number): PowerError =>
  new PowerError(code, message.slice(0, 500), { retryAfterMs });

/** Sends one request to the discovery of another cluster. Throws PowerErrors. */
async function ask(
  { resolve, credentials }: AskDeps,
  { url, tls, credentials: name }: DiscoveryAddress,
  request: { readonly method: 'GET' | 'PUT'; readonly body?: string },
  section: string,
  signal: AbortSignal,
) {
  if (!resolve) throw fail('config', 'this process may not call others');
  const token = name === undefined ? undefined : (await credentials?.(name))?.token;
  if (name !== undefined && token === undefined)
    throw fail('config', `the credentials ${name}, which ${section} names, have no token`);
  const peer: HttpPeer = { who: url, address: new URL(url), tls, section, resolve, fail };
  const answer = await httpRequest(
    peer,
    {
      ...request,
      path: `${new URL(url).pathname.replace(/\/$/, '')}/offers`,
      headers: {
        accept: 'application/json',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    },
    AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
  );
  return { peer, answer: accepted(peer, answer, `${section}.credentials`) };
}

/** The unverified content of a listing. */
export async function readListing(
  deps: AskDeps,
  source: DiscoveryAddress,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { peer, answer } = await ask(deps, source, { method: 'GET' }, 'remote.sources', signal);
  return parsed(peer, Listing, answer, 'listing').offers;
}

export async function publishOffer(
  deps: AskDeps,
  registry: DiscoveryAddress,
  sealed: SealedOffer,
  signal: AbortSignal,
): Promise<void> {
  const request = { method: 'PUT', body: JSON.stringify(sealed) } as const;
  await ask(deps, registry, request, 'remote.publishTo', signal);
}

/** How long a provider takes to take a connection, in milliseconds; undefined: it does not, or may not be asked. */
export async function latencyOf(
  { resolve }: AskDeps,
  endpoint: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const url = new URL(endpoint);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(longestConnectMs)]);
  try {
    const host = await resolve?.(hostOf(url));
    if (host === undefined) return undefined;
    const began = performance.now();
    const socket = connect({ host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) });
    try {
      await once(socket, 'connect', { signal: inTime });
      return Math.ceil(performance.now() - began);
    } finally {
      socket.destroy();
    }
  } catch {
    // That it does not answer shows where something is asked of it.
    return undefined;
  }
}
