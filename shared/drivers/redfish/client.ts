import type { z } from 'zod';
import { accepted, parsed } from '../../http/answers.ts';
import type { HttpAnswer } from '../../http/exchange.ts';
import { type HttpPeer, httpRequest } from '../../http/peer.ts';
import type { Quirk } from './quirks.ts';
import { notNowMs } from './quirks.ts';
import { Collection, Refusal } from './schema.ts';

/** One BMC, for as long as the signal lasts; the requests carry who we are. */
export interface Client {
  readonly peer: HttpPeer;
  readonly signal: AbortSignal;
  /** Whatever it answers. */
  send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<HttpAnswer>;
  get<Value>(schema: z.ZodType<Value>, path: string, what: string): Promise<Value>;
  /** With the ETag to change it by. */
  getTagged<Value>(
    schema: z.ZodType<Value>,
    path: string,
    what: string,
  ): Promise<{ readonly value: Value; readonly etag: string | undefined }>;
  members(path: string, what: string): Promise<string[]>;
  /** The answer when it is a success, else the error it is. */
  accepted(answer: HttpAnswer, quirk?: Quirk): HttpAnswer;
}

interface Identity {
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the credentials, for messages. */
  readonly credentials?: string | undefined;
  readonly session?: boolean;
}

export function createClient(peer: HttpPeer, identity: Identity, signal: AbortSignal): Client {
  const client: Client = {
    peer,
    signal,
    send: (method, path, body, headers) =>
      httpRequest(
        peer,
        {
          method,
          path,
          headers: {
            accept: 'application/json',
            'odata-version': '4.0',
            ...(body && { 'content-type': 'application/json' }),
            ...identity.headers,
            ...headers,
          },
          body: body && JSON.stringify(body),
        },
        signal,
      ),
    get: async (schema, path, what) => (await client.getTagged(schema, path, what)).value,
    async getTagged(schema, path, what) {
      const answer = client.accepted(await client.send('GET', path));
      const { etag } = answer.headers;
      return { value: parsed(peer, schema, answer, what), etag: typeof etag === 'string' ? etag : undefined };
    },
    async members(path, what) {
      const { Members } = await client.get(Collection, path, what);
      return Members.map((member) => member['@odata.id']);
    },
    accepted(answer, quirk) {
      const messageIds = messagesOf(answer);
      const why = messageIds.length > 0 ? ` (${messageIds.join(', ')})` : '';
      const later = quirk && notNowMs(quirk, messageIds);
      if (later !== undefined) throw peer.fail('busy', `${peer.who} asks to come back later${why}`, later);
      // The password was right when the session began.
      if (identity.session && answer.status === 401)
        throw peer.fail('busy', `${peer.who} has ended our session${why}`);
      return accepted(peer, answer, identity.credentials, why);
    },
  };
  return client;
}

function messagesOf({ status, text }: HttpAnswer): string[] {
  if (status < 400) return [];
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // A web server's own error page: the status says enough.
    return [];
  }
  const info = Refusal.safeParse(body).data?.error['@Message.ExtendedInfo'] ?? [];
  return info.map(({ MessageId }) => MessageId);
}
