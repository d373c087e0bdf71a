import {
  type ApiType,
  type Configuration,
  type KubeConfig,
  Observable,
  type ObservableMiddleware,
} from '@kubernetes/client-node';

/** How long the server is given: an answer to a question is short, a write may wait for webhooks. */
export interface Patience {
  readonly readMs: number;
  readonly writeMs: number;
}

/** Ends what the connections of a kubeconfig hold open. */
export interface Connections {
  readonly kubeConfig: KubeConfig;
  /** An API of client-node that gives up in time. */
  api<Api extends ApiType>(type: new (config: Configuration) => Api): Api;
  close(): void;
}

interface Dispatcher {
  destroy(): Promise<void>;
}

/**
 * client-node makes a new dispatcher, and with it a new TLS connection, for every request. Here they are kept
 * as long as nothing about them changes, as a renewed certificate does.
 */
export function keepConnections(given: KubeConfig, patience: Patience): Connections {
  const make = Reflect.get(given, 'createDispatcher') as (
    cluster: unknown,
    options: unknown,
  ) => Dispatcher | undefined;
  let kept: { readonly for: string; readonly dispatcher: Dispatcher | undefined } | undefined;
  const kubeConfig: KubeConfig = Object.create(given, {
    createDispatcher: {
      value(cluster: unknown, options: unknown) {
        const wanted = JSON.stringify([cluster, options]);
        if (kept?.for !== wanted) {
          // Whoever still uses the old one finishes with it; its idle connections end by themselves.
          kept = { for: wanted, dispatcher: make.call(given, cluster, options) };
        }
        return kept.dispatcher;
      },
    },
  });
  return {
    kubeConfig,
    api: (type) =>
      kubeConfig.makeApiClient(
        class extends (type as new (config: Configuration) => ApiType) {
          constructor(config: Configuration) {
            super({ ...config, middleware: [...config.middleware, deadline(patience)] });
          }
        } as typeof type,
      ),
    close() {
      // Only what is under way could complain, and nobody waits for it any more.
      kept?.dispatcher?.destroy().catch(() => undefined);
    },
  };
}

/** On a connection that has silently died a call would last for minutes, and a drain with it. */
const deadline = ({ readMs, writeMs }: Patience): ObservableMiddleware => ({
  pre(request) {
    request.setSignal(AbortSignal.timeout(request.getHttpMethod() === 'GET' ? readMs : writeMs));
    return new Observable(Promise.resolve(request));
  },
  post: (response) => new Observable(Promise.resolve(response)),
});
