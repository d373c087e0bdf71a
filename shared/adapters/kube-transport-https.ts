import { Agent, request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { endOn, textOf } from './http-client.ts';
import { createWires, type WireRequest, type WireTls } from './http-wire.ts';
import { contentTypeOf, type KubeAnswer, type KubeCall, type KubeTransport } from './kube-transport.ts';

/** Where an API server is, and what it takes to be let in. */
export interface KubeTarget {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly tls: WireTls;
  /** Asked before every request: tokens are renewed. */
  token(): string | undefined;
}

/** An API server over node:https and nothing else, which is there at once; `quick`: over even less. */
export function httpsTransport({ server, namespace, tls, token }: KubeTarget, quick = false): KubeTransport {
  const base = new URL(server);
  const isSecure = base.protocol === 'https:';
  const folder = base.pathname.endsWith('/') ? base.pathname.slice(0, -1) : base.pathname;

  function requestOf(call: KubeCall): WireRequest {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query))
      if (value !== undefined) query.set(name, String(value));
    const bearer = token();
    return {
      isRead: call.method === 'GET' || call.onlyAsks === true,
      isUrgent: call.isUrgent,
      method: call.method,
      path: `${folder}${call.path}${query.size > 0 ? `?${query}` : ''}`,
      headers: {
        accept: 'application/json',
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(call.body !== undefined && { 'content-type': contentTypeOf(call) }),
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
    };
  }

  // Made when first used: a quick one needs it for watches only.
  let agent: Agent | undefined;
  async function ask(call: KubeCall, signal: AbortSignal): Promise<IncomingMessage> {
    agent ??= isSecure ? new TlsAgent({ keepAlive: true, ...tls }) : new Agent({ keepAlive: true });
    const { method, path, headers: own, body } = requestOf(call);
    // Node.js says it by itself, but not of what is deleted.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...own, ...length };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sending = (isSecure ? httpsRequest : httpRequest)(base, { method, path, agent, headers }, resolve);
    sending.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    endOn(signal, sending);
    sending.end(body);
    return promise;
  }
  const wires = quick ? createWires(base, tls) : undefined;

  return {
    namespace,
    async send(call, signal) {
      if (wires) {
        const request = requestOf(call);
        const wire = wires.take(request.isRead);
        return wire.send(request, signal).catch((error) => {
          // Shared with others, or kept for later, it may have ended before our turn: what only reads is asked again.
          if (!request.isRead || signal.aborted || !wire.wasConnected) throw error;
          return wires.take(true).send(request, signal);
        });
      }
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
    close() {
      agent?.destroy();
      wires?.close();
    },
  };
}

const headersOf = ({ headers }: IncomingMessage): KubeAnswer['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
