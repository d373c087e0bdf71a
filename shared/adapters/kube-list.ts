import {
  ApiException,
  type Configuration,
  HttpMethod,
  type KubernetesListObject,
  type KubernetesObject,
} from '@kubernetes/client-node';
import type { Connections } from './kube-connections.ts';

interface RawList<Raw> {
  readonly items: Raw[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

/**
 * Lists as JSON, as a watch gives it. The typed API makes an object of a class of everything in the answer, which
 * takes longer than all the rest when there are ten thousands of pods.
 */
export function rawLists({ api }: Pick<Connections, 'api'>) {
  return <Raw extends KubernetesObject>(path: string, limit: number) => {
    const lists = api(RawLists);
    return async (page: string | undefined): Promise<KubernetesListObject<Raw>> => {
      const { items, metadata } = await lists.list<Raw>(path, limit, page);
      // As the typed API calls it.
      return { items, metadata: { ...metadata, ...(metadata.continue && { _continue: metadata.continue }) } };
    };
  };
}

/** Metadata comes first: where the next page begins is known before this one is parsed. */
const whereNext = /^.{0,200}"metadata":\{[^{}]*"continue":"([^"]+)"/;

class RawLists {
  readonly #config: Configuration;
  constructor(config: Configuration) {
    this.#config = config;
  }

  /** While a page is parsed here, the server makes the next one. */
  readonly #ahead = new Map<string, Promise<string>>();

  async list<Raw>(path: string, limit: number, page: string | undefined): Promise<RawList<Raw>> {
    const asked = (page && this.#ahead.get(page)) || this.#ask(path, limit, page);
    this.#ahead.clear();
    const text = await asked;
    const [, next] = whereNext.exec(text.slice(0, 2_000)) ?? [];
    if (next) {
      const ahead = this.#ask(path, limit, next);
      this.#ahead.set(next, ahead);
      // Whoever asks for that page is told.
      ahead.catch(() => undefined);
    }
    return JSON.parse(text) as RawList<Raw>;
  }

  async #ask(path: string, limit: number, page: string | undefined): Promise<string> {
    const { baseServer, authMethods, middleware, httpApi } = this.#config;
    let request = baseServer.makeRequestContext(path, HttpMethod.GET);
    request.setQueryParam('limit', String(limit));
    if (page) request.setQueryParam('continue', page);
    request.setHeaderParam('Accept', 'application/json');
    // Packing and unpacking takes longer than the way to a server that is near.
    request.setHeaderParam('Accept-Encoding', 'identity');
    await authMethods.default?.applySecurityAuthentication(request);
    for (const one of middleware) request = await one.pre(request).toPromise();
    const response = await httpApi.send(request).toPromise();
    const text = await response.body.text();
    if (response.httpStatusCode !== 200)
      throw new ApiException(response.httpStatusCode, 'not listed', text, response.headers);
    return text;
  }
}
