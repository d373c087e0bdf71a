import { type KubeApis, operations } from './operations.ts';
import { ApiException, type KubeCall, type KubeTransport } from './transport.ts';

/** How long the server is given: an answer to a question is short, a write may wait for webhooks. */
export interface Patience {
  readonly readMs: number;
  readonly writeMs: number;
}

/** The API server with typed calls, each with a deadline. */
export interface KubeClient extends Pick<KubeTransport, 'watch' | 'close'> {
  /** Our own namespace. */
  namespace(): Promise<string>;
  readonly apis: KubeApis;
  /** The answer as text; whatever is not a success is thrown as an ApiException. */
  ask(call: KubeCall): Promise<string>;
}

export function createKubeClient(transport: KubeTransport, patience: Patience): KubeClient {
  const ask = async (call: KubeCall): Promise<string> => {
    // On a connection that has silently died a call would last for minutes, and a drain with it.
    const signal = AbortSignal.timeout(call.method === 'GET' ? patience.readMs : patience.writeMs);
    const answer = await transport.send(call, signal);
    if (answer.status < 200 || answer.status > 299) throw new ApiException(answer);
    return answer.text;
  };
  return {
    ask,
    apis: apisOf(ask),
    namespace: async () => (await transport.namespace()) ?? 'default',
    watch: (watch) => transport.watch(watch),
    close: () => transport.close(),
  };
}

function apisOf(ask: KubeClient['ask']): KubeApis {
  const apis = Object.entries(operations).map(([api, rows]) => [
    api,
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [
        name,
        async (given: Readonly<Record<string, unknown>> = {}) =>
          asClientNode(JSON.parse(await ask(callOf(row, given)))),
      ]),
    ),
  ]);
  return Object.fromEntries(apis) as KubeApis;
}

function callOf(row: string, { body, _continue, ...given }: Readonly<Record<string, unknown>>): KubeCall {
  const [method = '', pattern = ''] = row.split(' ');
  const query: Record<string, unknown> = { ...given, continue: _continue };
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = query[name];
    delete query[name];
    return encodeURIComponent(String(value));
  });
  return { method: method as KubeCall['method'], path, query: query as KubeCall['query'], body };
}

/** There is one field that client-node gives another name. */
function asClientNode(answer: { metadata?: { continue?: string; _continue?: string } }): unknown {
  if (answer.metadata?.continue) answer.metadata._continue = answer.metadata.continue;
  return answer;
}
