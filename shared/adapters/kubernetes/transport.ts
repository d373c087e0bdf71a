import { Agent, request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import {
  type AgentOptions,
  request as httpsRequest,
  type RequestOptions,
  Agent as TlsAgent,
} from 'node:https';
import { text } from 'node:stream/consumers';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubeConfigSource } from './kubeconfig.ts';

/** One request to the API server. */
export interface KubeCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Undefined values are omitted. */
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** It changes nothing, although it is no GET: it may be sent again. */
  readonly isRead?: boolean;
}

export interface KubeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface KubeWatch {
  readonly path: string;
  readonly query: KubeCall['query'];
  /** A watch without a message for this long ends. */
  readonly silenceMs: number;
  onEvent(type: string, object: unknown): void;
  /** Called once, whatever ends the watch; with the error, if there was one. */
  onEnd(error: unknown): void;
}

/** How the API server is reached, and who we are to it. */
export interface KubeTransport {
  /** Of the current context or the pod's own account. */
  namespace(): Promise<string | undefined>;
  send(call: KubeCall, signal: AbortSignal): Promise<KubeAnswer>;
  /** Resolves once the server has answered, or not; then `onEnd` was called. */
  watch(watch: KubeWatch): Promise<AbortController>;
  close(): void;
}

/** The server answered with a status that is no success. */
export class ApiException extends Error {
  readonly code: number;
  readonly body: string | undefined;
  readonly headers: KubeAnswer['headers'];

  constructor({ status, text: body, headers }: KubeAnswer) {
    super(`the API server answered ${status}`);
    this.code = status;
    this.body = body || undefined;
    this.headers = headers;
  }
}

/**
 * The API server over node:https. client-node reads the kubeconfig and logs in (token, certificate, exec, OIDC); it is
 * loaded at the first request. Its generated client is not used: importing it takes 600 ms, it opens a connection for
 * every request, and a list of 30,000 pods has to be parsed as a whole (see kube-page.ts).
 */
export function kubeTransport(source: KubeConfigSource | KubeConfig): KubeTransport {
  let loading: Promise<KubeConfig> | undefined;
  let kept: { readonly tls: string; readonly agent: Agent } | undefined;

  const kubeConfig = (): Promise<KubeConfig> => {
    // A kubeconfig that cannot be read is read again by the next request.
    loading ??= load(source).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  /** One agent keeps the connections. A renewed client certificate needs a new one. */
  const agentFor = (isSecure: boolean, tls: AgentOptions): Agent => {
    const wanted = JSON.stringify(tls);
    if (kept?.tls !== wanted)
      kept = {
        tls: wanted,
        agent: isSecure ? new TlsAgent({ keepAlive: true, ...tls }) : new Agent({ keepAlive: true }),
      };
    return kept.agent;
  };

  async function request(call: KubeCall, signal: AbortSignal): Promise<IncomingMessage> {
    const config = await kubeConfig();
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig names no cluster');
    const login: RequestOptions = {};
    await config.applyToHTTPSOptions(login);
    const { headers, auth = null, agent: ofClientNode, ...tls } = login;
    const base = new URL(cluster.server);
    const isSecure = base.protocol === 'https:';
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sending = (isSecure ? httpsRequest : httpRequest)(
      base,
      {
        method: call.method,
        path: pathOf(base, call),
        // client-node's agents know proxies, but keep no connections.
        agent: cluster.proxyUrl ? ofClientNode : agentFor(isSecure, tls as AgentOptions),
        auth,
        signal,
        headers: {
          accept: 'application/json, */*;q=0.8',
          ...trimmed(headers),
          ...(body !== undefined && {
            'content-type': contentTypeOf(call),
            // Node.js does not set it for DELETE.
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      resolve,
    );
    sending.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close a kept connection just when it is used again.
      const isStale = sending.reusedSocket && error.code === 'ECONNRESET';
      const isRead = call.method === 'GET' || call.isRead;
      if (isStale && isRead && !signal.aborted) resolve(request(call, signal));
      else reject(error);
    });
    sending.end(body);
    return promise;
  }

  return {
    async namespace() {
      const config = await kubeConfig();
      return config.getContextObject(config.getCurrentContext())?.namespace?.trim();
    },
    async send(call, signal) {
      try {
        const response = await request(call, signal);
        return {
          status: response.statusCode ?? 0,
          headers: headersOf(response),
          text: await text(response),
        };
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
    async watch({ path, query, silenceMs, onEvent, onEnd }) {
      const controller = new AbortController();
      const silence = setTimeout(
        () => controller.abort(new Error(`no message for ${silenceMs / 1000} s`)),
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
        const response = await request(call, controller.signal);
        const { statusCode: status = 0 } = response;
        if (status !== 200) throw Object.assign(new Error(STATUS_CODES[status]), { statusCode: status });
        response.on('error', (error) => end.resolve(controller.signal.reason ?? error));
        response.on('close', () => end.resolve(null));
        // The last line may be cut off when the connection ends.
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
        end.resolve(controller.signal.reason ?? error);
      }
      return controller;
    },
    close() {
      kept?.agent.destroy();
    },
  };
}

async function load(source: KubeConfigSource | KubeConfig): Promise<KubeConfig> {
  if ('getCurrentCluster' in source) return source;
  const { loadKubeConfig } = await import('./kubeconfig.ts');
  return loadKubeConfig(source);
}

/** Patches are merge patches. */
const contentTypeOf = ({ method }: KubeCall): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';

/** The server may be behind a path of its own. */
function pathOf({ pathname }: URL, { path, query }: KubeCall): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const folder = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  return `${folder}${path}${parameters.size > 0 ? `?${parameters}` : ''}`;
}

/** A token file often ends with a line break, which no header may contain. */
const trimmed = (headers: RequestOptions['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value).trim()]));

const headersOf = ({ headers }: IncomingMessage): KubeAnswer['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
