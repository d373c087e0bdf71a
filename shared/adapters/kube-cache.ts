import {
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  Watch,
} from '@kubernetes/client-node';
import type { Clock } from '../ports.ts';
import { ClusterError } from '../ports.ts';
import type { Log } from '../runtime/log.ts';

export interface CacheOptions<Raw extends KubernetesObject, Kept> {
  readonly kubeConfig: KubeConfig;
  readonly path: string;
  readonly list: (page: string | undefined) => Promise<KubernetesListObject<Raw>>;
  readonly keep: (raw: Raw) => Kept;
  readonly onChange: (now: Kept | undefined, before: Kept | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Cache<Kept> {
  /** Everything, once listed. Throws ClusterError when the server has not been heard of for too long. */
  all(): Promise<readonly Kept[]>;
  close(): void;
}

/** An answer from a cache that has not been connected for this long is a guess. */
const longestGapMs = 10_000;
const retryEveryMs = 500;

/** List, then watch; list again whenever changes may have been missed. Only what `keep` returns is kept. */
export function createCache<Raw extends KubernetesObject, Kept>(
  options: CacheOptions<Raw, Kept>,
): Cache<Kept> {
  const { clock, log, path, onChange } = options;
  const closing = new AbortController();
  const kept = new Map<string, Kept>();
  const watch = new Watch(options.kubeConfig);
  let lostAt: number | undefined = clock.now();
  let lastProblem = 'it was never reached';
  const listed = Promise.withResolvers<void>();
  let all: readonly Kept[] | undefined;

  const replace = (key: string, now: Kept | undefined): void => {
    const before = kept.get(key);
    if (now === undefined) kept.delete(key);
    else kept.set(key, now);
    all = undefined;
    onChange(now, before);
  };

  const listAll = async (): Promise<string> => {
    const gone = new Set(kept.keys());
    let page: string | undefined;
    let resourceVersion = '';
    do {
      const { items, metadata } = await options.list(page);
      for (const item of items) {
        gone.delete(keyOf(item));
        replace(keyOf(item), options.keep(item));
      }
      page = metadata?._continue;
      resourceVersion = metadata?.resourceVersion ?? '';
    } while (page);
    for (const key of gone) replace(key, undefined);
    return resourceVersion;
  };

  /** Resolves with where to go on from, or undefined when a new list is needed. */
  const watchFrom = (resourceVersion: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      let at: string | undefined = resourceVersion;
      const abort = (): void => controller?.abort();
      let controller: AbortController | undefined;
      const finish = (error: unknown): void => {
        closing.signal.removeEventListener('abort', abort);
        if (error) lastProblem = error instanceof Error ? error.message : String(error);
        if ((error as { statusCode?: number } | null)?.statusCode === 410) at = undefined;
        resolve(at);
      };
      watch
        .watch(
          path,
          { resourceVersion, allowWatchBookmarks: true },
          (type: string, object: Raw) => {
            if (type === 'ERROR') {
              at = undefined;
              return;
            }
            at = object.metadata?.resourceVersion ?? at;
            if (type === 'BOOKMARK') return;
            replace(keyOf(object), type === 'DELETED' ? undefined : options.keep(object));
          },
          finish,
        )
        .then((started) => {
          controller = started;
          if (closing.signal.aborted) abort();
          else closing.signal.addEventListener('abort', abort, { once: true });
        }, finish);
    });

  const run = async (): Promise<void> => {
    let resourceVersion: string | undefined;
    while (!closing.signal.aborted) {
      const startedAt = clock.now();
      try {
        resourceVersion ??= await listAll();
        lostAt = undefined;
        listed.resolve();
        resourceVersion = await watchFrom(resourceVersion);
      } catch (error) {
        resourceVersion = undefined;
        const problem = error instanceof Error ? error.message : String(error);
        if (problem !== lastProblem) log.warn({ path, problem }, 'the cluster does not answer');
        lastProblem = problem;
      }
      lostAt ??= clock.now();
      // A watch that ran for a while ended in the ordinary way: go on at once.
      if (clock.now() - startedAt < retryEveryMs) await clock.sleep(retryEveryMs, closing.signal);
    }
  };
  const running = run();
  running.catch((error: unknown) => log.error({ err: error, path }, 'the cluster is no longer watched'));

  return {
    async all() {
      await Promise.race([listed.promise, clock.sleep(longestGapMs, closing.signal)]);
      if (lostAt !== undefined && clock.now() - lostAt >= longestGapMs)
        throw new ClusterError(
          'unavailable',
          `the Kubernetes API server has not answered for ${Math.round((clock.now() - lostAt) / 1000)} s (${lastProblem}). Nothing is powered on or off until it is back`,
        );
      all ??= [...kept.values()];
      return all;
    },
    close: () => closing.abort(),
  };
}

const keyOf = (object: KubernetesObject): string =>
  `${object.metadata?.namespace ?? ''}/${object.metadata?.name}`;
