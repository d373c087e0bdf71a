import http from 'node:http';
import https from 'node:https';
import { parse } from 'yaml';
import { z } from 'zod';

/** Where a Kubernetes API server is and how to be let in. */
export interface ApiAccess {
  url: string;
  token?: string;
  ca?: string;
  cert?: string;
  key?: string;
}

interface KubeAnswer {
  status: number;
  /** Parsed JSON, to be validated by who asked. */
  body: unknown;
}

export interface KubeApi {
  /** Rejects only when no answer came. A PATCH is a strategic merge patch, as kubelets send. */
  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<KubeAnswer>;
  /** One line of text per call until the server ends it or `signal` aborts; rejects when it breaks. */
  lines(path: string, signal: AbortSignal, onLine: (line: string) => void): Promise<void>;
  close(): void;
}

/** A small client: a thousand kubelets share its few connections. */
export function connectKube(access: ApiAccess): KubeApi {
  const secure = access.url.startsWith('https:');
  const { request } = secure ? https : http;
  const tls = { ca: access.ca, cert: access.cert, key: access.key };
  const agentOptions = { keepAlive: true, maxSockets: 16 };
  const agent = secure ? new https.Agent({ ...agentOptions, ...tls }) : new http.Agent(agentOptions);
  const headers = access.token ? { authorization: `Bearer ${access.token}` } : {};

  const open = (method: string, path: string, text = '', signal?: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const outgoing = request(new URL(path, access.url), {
      method,
      // A watch would hold one of the shared connections for ever.
      agent: signal ? (secure ? new https.Agent(tls) : false) : agent,
      headers: { ...headers, ...(text && bodyHeaders(method, text)) },
      ...(signal && { signal }),
    });
    outgoing.on('error', reject).on('response', resolve).end(text);
    return promise;
  };

  return {
    async send(method, path, body) {
      const response = await open(method, path, body && JSON.stringify(body));
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      return { status: response.statusCode ?? 0, body: text ? JSON.parse(text) : undefined };
    },
    async lines(path, signal, onLine) {
      const response = await open('GET', path, '', signal);
      if (response.statusCode !== 200) {
        response.resume();
        throw new Error(`watching ${path} was answered with ${response.statusCode}`);
      }
      let rest = '';
      for await (const chunk of response.setEncoding('utf8')) {
        const parts = (rest + chunk).split('\n');
        rest = parts.pop() ?? '';
        for (const line of parts) if (line) onLine(line);
      }
    },
    close: () => agent.destroy(),
  };
}

const contentTypes: Record<string, string> = { PATCH: 'application/strategic-merge-patch+json' };
const bodyHeaders = (method: string, text: string) => ({
  'content-type': contentTypes[method] ?? 'application/json',
  // Node sends none with DELETE, and the body would be taken for the next request.
  'content-length': Buffer.byteLength(text),
});

const base64 = z.string().transform((data) => Buffer.from(data, 'base64').toString());
const Kubeconfig = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) }),
  ),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({ server: z.string(), 'certificate-authority-data': base64.optional() }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.object({
        token: z.string().optional(),
        'client-certificate-data': base64.optional(),
        'client-key-data': base64.optional(),
      }),
    }),
  ),
});

/** Reads the current context of a kubeconfig; certificates must be inline (`kubectl config view --flatten`). */
export function accessFromKubeconfig(text: string): ApiAccess {
  const config = Kubeconfig.parse(parse(text));
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === context?.user)?.user;
  if (!cluster)
    throw new Error(
      'the kubeconfig’s current-context names no cluster: set one with kubectl config use-context',
    );
  return {
    url: cluster.server,
    ...(cluster['certificate-authority-data'] && { ca: cluster['certificate-authority-data'] }),
    ...(user?.token && { token: user.token }),
    ...(user?.['client-certificate-data'] && { cert: user['client-certificate-data'] }),
    ...(user?.['client-key-data'] && { key: user['client-key-data'] }),
  };
}
