import type { ApiConstructor, ApiType, Configuration, KubeConfig } from '@kubernetes/client-node';
import { PowerError } from '../ports.ts';
import { type KubeConfigSource, loadKubeConfig } from './kube-config.ts';

/** The client and where it leads, for what drivers ask of Kubernetes. */
export interface KubeAccess {
  readonly client: typeof import('@kubernetes/client-node');
  readonly namespace: string;
  api<Api extends ApiType>(kind: ApiConstructor<Api>): Api;
}

const longestMs = 10_000;

/** Loaded when first used: few machines are powered through Kubernetes, and the client is slow to load. */
export function lazyKubeAccess(source: KubeConfigSource): () => Promise<KubeAccess> {
  let access: Promise<KubeAccess> | undefined;
  return () => {
    access ??= load(source);
    return access;
  };
}

async function load(source: KubeConfigSource): Promise<KubeAccess> {
  const [client, kubeConfig] = await Promise.all([import('@kubernetes/client-node'), loadKubeConfig(source)]);
  return accessTo(client, kubeConfig);
}

export function accessTo(client: KubeAccess['client'], kubeConfig: KubeConfig): KubeAccess {
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  const made = new Map<unknown, unknown>();
  return {
    client,
    namespace: context?.namespace ?? 'default',
    api<Api extends ApiType>(kind: ApiConstructor<Api>): Api {
      const known = made.get(kind) as Api | undefined;
      if (known) return known;
      const Base = kind as new (config: Configuration) => ApiType;
      const api = kubeConfig.makeApiClient(
        class extends (Base as new (config: Configuration) => object) {
          constructor(config: Configuration) {
            super({ ...config, middleware: [...config.middleware, deadline(client)] });
          }
        } as unknown as ApiConstructor<Api>,
      );
      made.set(kind, api);
      return api;
    },
  };
}

/** On a connection that has silently died a call would last for minutes. */
const deadline = ({ Observable }: KubeAccess['client']): Configuration['middleware'][number] => ({
  pre(request) {
    request.setSignal(AbortSignal.timeout(longestMs));
    return new Observable(Promise.resolve(request));
  },
  post: (response) => new Observable(Promise.resolve(response)),
});

/** What of an answer decides what becomes of a power operation. */
const codes: Readonly<Record<number, PowerError['code']>> = {
  400: 'config',
  404: 'config',
  422: 'config',
  429: 'busy',
};

/** `what` names what was asked, in the message; undefined for what is not there, where that is an answer. */
export async function asked<Value>(
  { client }: KubeAccess,
  what: string,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PowerError) throw error;
    const { problemOf, retryAfter } = await import('./kube-errors.ts');
    if (!(error instanceof client.ApiException))
      throw new PowerError(
        'unreachable',
        `${what}: the Kubernetes API server does not answer (${problemOf(error)})`,
      );
    const code = codes[error.code] ?? (error.code >= 500 ? 'unreachable' : 'refused');
    const hint = error.code === 403 ? '. Give our ServiceAccount the right to do so' : '';
    throw new PowerError(code, `${what}: the Kubernetes API server answered ${problemOf(error)}${hint}`, {
      retryAfterMs: retryAfter(error),
    });
  }
}

/** Undefined where the API server says that there is no such thing. */
export async function ifThere<Value>(
  { client }: KubeAccess,
  work: Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof client.ApiException && error.code === 404) return undefined;
    throw error;
  }
}
