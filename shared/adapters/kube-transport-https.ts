import { Agent, request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { endOn, textOf } from './http-client.ts';
import { contentTypeOf, type KubeAnswer, type KubeCall, type KubeTransport } from './kube-transport.ts';

/** Where an API server is, and what it takes to be let in. */
export interface KubeTarget {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;
  /** Asked before every request: tokens are renewed. */
  token(): Promise<string | undefined>;
}

/** An API server over node:https and nothing else, which is there at once. */
export function httpsTransport({ server, namespace, tls, token }: KubeTarget): KubeTransport {
  const base = new URL(server);
  const isSecure = base.protocol === 'https:';
  const agent = isSecure ? new TlsAgent({ keepAlive: true, ...tls }) : new Agent({ keepAlive: true });

  async function ask(call: KubeCall, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(base.pathname.replace(/\/$/, '') + call.path, base);
    for (const [name, value] of Object.entries(call.query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const bearer = await token();
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sending = (isSecure ? httpsRequest : httpRequest)(
      url,
      {
        method: call.method,
        agent,
        headers: {
          accept: 'application/json',
          ...(bearer && { authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && {
            'content-type': contentTypeOf(call),
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      resolve,
    );
    sending.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    endOn(signal, sending);
    sending.end(body);
    return promise;
  }

  return {
    namespace,
    async send(call, signal) {
      const response = await ask(call, signal);
      return { status: response.statusCode ?? 0, headers: headersOf(response), text: await textOf(response) };
    },
    async watch({ path, query, silenceMs, onEvent, onEnd }) {
      const controller = new AbortController();
      const silence = setTimeout(
        () => controller.abort(new Error(`no word for ${silenceMs / 1000} s`)),
        silenceMs,
      ).unref();
      const end = Promise.withResolvers<unknown>();
      end.promise.then((error) => {
        clearTimeout(silence);
        controller.abort();
        onEnd(error);
      });
      try {
        const call = { method: 'GET', path, query: { ...query, watch: true } } as const;
        const response = await ask(call, controller.signal);
        const { statusCode: status = 0 } = response;
        if (status !== 200) throw Object.assign(new Error(STATUS_CODES[status]), { statusCode: status });
        response.on('error', (error) => end.resolve(controller.signal.reason ?? error));
        response.on('close', () => end.resolve(null));
        // What a connection that ended has cut off is left in there.
        let rest = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          silence.refresh();
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines.filter(Boolean)) {
            const { type, object } = JSON.parse(line) as { type: string; object: unknown };
            onEvent(type, object);
          }
        });
      } catch (error) {
        end.resolve(error);
      }
      return controller;
    },
    close: () => agent.destroy(),
  };
}

const headersOf = ({ headers }: IncomingMessage): KubeAnswer['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
