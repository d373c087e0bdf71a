import type { KubernetesObject } from '@kubernetes/client-node';
import type { KubeClient } from './client.ts';
import { type Page, parsePage } from './page.ts';

/** Metadata comes first: where the next page begins is known before this one is parsed. */
const whereNext = /^.{0,200}"metadata":\{[^{}]*"continue":"([^"]+)"/;

/** Long lists, page by page. While a page is parsed here, the server makes the next one. */
export function rawLists({ ask }: Pick<KubeClient, 'ask'>) {
  return <Raw extends KubernetesObject>(path: string, limit: number) => {
    const askFor = (page: string | undefined): Promise<string> =>
      ask({ method: 'GET', path, query: { limit, continue: page } });
    let ahead: { readonly page: string; readonly text: Promise<string> } | undefined;
    return async (page: string | undefined): Promise<Page<Raw>> => {
      const asked = page !== undefined && ahead?.page === page ? ahead.text : askFor(page);
      ahead = undefined;
      const text = await asked;
      const [, next] = whereNext.exec(text.slice(0, 2_000)) ?? [];
      if (next) {
        ahead = { page: next, text: askFor(next) };
        // The reader of that page gets the error.
        ahead.text.catch(() => undefined);
      }
      return parsePage<Raw>(text);
    };
  };
}
