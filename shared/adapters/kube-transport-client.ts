import type { Configuration, HttpMethod, KubeConfig } from '@kubernetes/client-node';
import { contentTypeOf, type KubeTransport } from './kube-transport.ts';

interface Dispatcher {
  destroy(): Promise<void>;
}

/** An API server as @kubernetes/client-node reaches it: every kind of login and proxy that it knows. */
export function clientTransport(given: KubeConfig): KubeTransport {
  const { kubeConfig, close } = keepConnections(given);
  let config: Configuration | undefined;
  const configuration = (): Configuration => {
    // What an API of client-node is made with is all that is needed to make requests.
    config ??= kubeConfig.makeApiClient(
      class {
        readonly config: Configuration;
        constructor(config: Configuration) {
          this.config = config;
        }
      },
    ).config;
    return config;
  };
  return {
    namespace: kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace,
    async send(call, signal) {
      const { baseServer, authMethods, httpApi } = configuration();
      const request = baseServer.makeRequestContext(call.path, call.method as HttpMethod);
      for (const [name, value] of Object.entries(call.query))
        if (value !== undefined) request.setQueryParam(name, String(value));
      request.setHeaderParam('Accept', 'application/json');
      // Packing and unpacking takes longer than the way to a server that is near.
      request.setHeaderParam('Accept-Encoding', 'identity');
      if (call.body !== undefined) {
        request.setHeaderParam('Content-Type', contentTypeOf(call));
        request.setBody(JSON.stringify(call.body));
      }
      request.setSignal(signal);
      await authMethods.default?.applySecurityAuthentication(request);
      const { httpStatusCode: status, headers, body } = await httpApi.send(request).toPromise();
      return { status, headers, text: await body.text() };
    },
    async watch({ path, query, silenceMs, onEvent, onEnd }) {
      const { Watch } = await import('@kubernetes/client-node');
      const watch = new Watch(kubeConfig);
      // Not offered as an option: 30 s, by default, is long to decide on what may be old.
      Object.assign(watch, { requestTimeoutMs: silenceMs });
      return watch.watch(path, { ...query }, onEvent, onEnd);
    },
    close,
  };
}

/**
 * client-node makes a new dispatcher, and with it a new TLS connection, for every request. Here they are kept
 * as long as nothing about them changes, as a renewed certificate does.
 */
function keepConnections(given: KubeConfig): { readonly kubeConfig: KubeConfig; close(): void } {
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
    close() {
      // Only what is under way could complain, and nobody waits for it any more.
      kept?.dispatcher?.destroy().catch(() => undefined);
    },
  };
}
