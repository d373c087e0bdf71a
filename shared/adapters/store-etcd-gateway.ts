import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { endOn, textOf } from './http-client.ts';
import { createWires } from './http-wire.ts';
import { deadlineMs, type EtcdCalls, type KeyValues, type WatchResponse } from './store-etcd-calls.ts';
import type { EtcdAddress } from './store-etcd-url.ts';

/** Nothing asks whether the other end of a silent watch is still there, as gRPC does. */
const longestWatchMs = 30_000;

/** etcd takes 128 operations in one transaction, unless it is told otherwise. */
const mostRanges = 100;

/** Something else came back than what was asked for, or nothing. */
export class GatewayError extends Error {
  readonly mayHaveHappened: boolean;
  constructor(message: string, mayHaveHappened: boolean) {
    super(message);
    this.mayHaveHappened = mayHaveHappened;
  }
}

type Json = Readonly<Record<string, unknown>>;
/** Bytes are base64, and what is zero, false or empty is left out. */
type JsonKeyValue = Readonly<Record<'key' | 'value' | 'mod_revision' | 'create_revision' | 'lease', string>>;

interface JsonRange {
  readonly kvs?: readonly Partial<JsonKeyValue>[];
  readonly more?: boolean;
  readonly header: KeyValues['header'];
}
interface JsonResponses {
  readonly header: KeyValues['header'];
  readonly responses: readonly { readonly response_range?: Omit<JsonRange, 'header'> }[];
}
type RangeRequest = Parameters<EtcdCalls['kvRange']>[0];

/** A member that loses touch with the others ends its watches, rather than showing the past. */
const headers = { 'content-type': 'application/json', 'grpc-metadata-hasleader': 'true' };

/** One member of etcd, any one, through its JSON gateway: POST /v3/… on the port where it also speaks gRPC. */
export function createGateway({ hosts, credentials, serverName }: EtcdAddress): EtcdCalls {
  const base = new URL(hosts[Math.floor(Math.random() * hosts.length)] ?? '');
  const isSecure = base.protocol === 'https:';
  const tls = { ...credentials, ...(serverName && { servername: serverName }) };

  /** What a watch tells, unread. */
  const watch = (body: object, signal: AbortSignal): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sending = (isSecure ? httpsRequest : httpRequest)(
      {
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port,
        path: '/v3/watch',
        method: 'POST',
        agent: false,
        headers,
        ...(isSecure && tls),
      },
      resolve,
    );
    sending.on('error', (error) => reject(new GatewayError(error.message, false)));
    endOn(signal, sending);
    sending.end(JSON.stringify(body, asJson));
    return promise;
  };

  const wires = createWires(base, tls);
  const post = async (path: string, body: object, withinMs = deadlineMs): Promise<Json> => {
    const request = {
      isRead: false,
      method: 'POST',
      path: `/v3/${path}`,
      headers,
      body: JSON.stringify(body, asJson),
    };
    const wire = wires.take(false);
    try {
      const { status, text } = await wire.send(request, AbortSignal.timeout(Math.floor(withinMs)));
      if (status === 200) return JSON.parse(text) as Json;
      throw refusal(status, text);
    } catch (error) {
      throw error instanceof GatewayError
        ? error
        : new GatewayError((error as Error).message, wire.wasConnected);
    }
  };

  const askFor = async (ranges: readonly RangeRequest[]): Promise<readonly Json[]> => {
    const [only, another] = ranges;
    if (only && !another) return [await post('kv/range', only)];
    const success = ranges.map((request) => ({ request_range: request }));
    const { header, responses } = (await post('kv/txn', { success })) as unknown as JsonResponses;
    return responses.map(({ response_range }) => ({ header, ...response_range }));
  };
  let batch: { readonly ranges: RangeRequest[]; readonly answers: Promise<readonly Json[]> } | undefined;
  /** All that are asked for at the same time are asked for together. */
  const startBatch = () => {
    const ranges: RangeRequest[] = [];
    const answers = new Promise(setImmediate).then(() => {
      if (batch?.ranges === ranges) batch = undefined;
      return askFor(ranges);
    });
    return { ranges, answers };
  };
  const range = async (request: RangeRequest): Promise<Json> => {
    // A past that is no longer there is no reason to refuse the others.
    if (request.revision !== undefined) return post('kv/range', request);
    if (!batch || batch.ranges.length >= mostRanges) batch = startBatch();
    const { ranges, answers } = batch;
    const mine = ranges.push(request) - 1;
    return (await answers)[mine] ?? {};
  };

  return {
    async kvRange(request) {
      const { kvs = [], more = false, header } = (await range(request)) as unknown as JsonRange;
      return { header, more, kvs: kvs.map(toKeyValue) };
    },
    async kvTxn(request) {
      const { succeeded = false, header } = await post('kv/txn', request);
      return { succeeded: succeeded === true, header: header as KeyValues['header'] };
    },
    async leaseGrant(seconds) {
      const { ID } = await post('lease/grant', { TTL: seconds });
      return String(ID);
    },
    async leaseKeepAlive(ID, withinMs) {
      const { result } = await post('lease/keepalive', { ID }, withinMs);
      return Number((result as { TTL?: string } | undefined)?.TTL ?? 0) > 0;
    },
    async leaseRevoke(ID) {
      await post('lease/revoke', { ID }).catch((error: Error) => {
        if (!error.message.includes('lease not found')) throw error;
      });
    },
    async watchFrom(request, onResponse, onEnd) {
      const cancelling = new AbortController();
      const signal = AbortSignal.any([cancelling.signal, AbortSignal.timeout(longestWatchMs)]);
      const response = await watch({ create_request: request }, signal);
      if (response.statusCode !== 200) throw refusal(response.statusCode, await textOf(response));
      let rest = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines.filter(Boolean)) onResponse(toWatchResponse(JSON.parse(line)));
      });
      response.on('error', onEnd);
      response.on('close', onEnd);
      return { cancel: () => cancelling.abort() };
    },
    close: () => wires.close(),
  };
}

/** What etcd refuses it has not done; what took too long or failed it may have. */
const refusal = (status = 0, text: string): GatewayError =>
  new GatewayError(`${status}: ${text}`, status >= 500 && status !== 501);

/** As the gateway wants it: bytes as base64, and names of constants in capitals. */
function asJson(this: unknown, name: string, value: unknown): unknown {
  const given = (this as Record<string, unknown>)[name];
  if (Buffer.isBuffer(given)) return given.toString('base64');
  return (name === 'target' || name === 'result') && typeof value === 'string' ? value.toUpperCase() : value;
}

const toKeyValue = ({
  key = '',
  value = '',
  ...numbers
}: Partial<JsonKeyValue>): KeyValues['kvs'][number] => ({
  version: '0',
  lease: '0',
  mod_revision: '0',
  create_revision: '0',
  ...numbers,
  key: Buffer.from(key, 'base64'),
  value: Buffer.from(value, 'base64'),
});

interface JsonWatchResponse {
  readonly result?: {
    readonly canceled?: boolean;
    readonly events?: readonly { readonly type?: 'DELETE'; readonly kv: Partial<JsonKeyValue> }[];
  };
}

/** Without a result it tells of an error, and nothing more comes. */
const toWatchResponse = ({ result }: JsonWatchResponse): WatchResponse => ({
  canceled: result?.canceled ?? result === undefined,
  events: (result?.events ?? []).map(({ type, kv }) => ({
    type: type === 'DELETE' ? 'Delete' : 'Put',
    kv: toKeyValue(kv),
  })) as WatchResponse['events'],
});
