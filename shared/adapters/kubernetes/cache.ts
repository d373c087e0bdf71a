import type { KubernetesObject } from '@kubernetes/client-node';
import type { Clock } from '../../ports/clock.ts';
import { ClusterError } from '../../ports/cluster.ts';
import type { Log } from '../../process/log.ts';
import type { KubeClient } from './client.ts';
import { problemOf } from './errors.ts';
import type { Page } from './page.ts';
import { ApiException } from './transport.ts';

export interface CacheOptions<Raw extends KubernetesObject, Kept> {
  readonly kube: Pick<KubeClient, 'watch'>;
  readonly path: string;
  readonly list: (page: string | undefined) => Promise<Page<Raw>>;
  readonly keep: (raw: Raw) => Kept;
  readonly onChange: (now: Kept | undefined, before: Kept | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** We can do without: a server that will not show it is not a server that is away. */
  readonly optional?: boolean;
}

export interface Cache<Kept> {
  /**
   * Everything, once listed. Throws ClusterError: unavailable when the server has not been heard of for too long,
   * refused when it will not show what is optional.
   */
  all(): Promise<readonly Kept[]>;
  close(): void;
}

/** An answer from a cache that has not been connected for this long is a guess. */
const longestGapMs = 10_000;
const retryEveryMs = 500;
/** Rights are not given every second. */
const askAgainEveryMs = 30_000;
/** A watch without events for this long is restarted: the server may hang. */
const longestSilenceMs = 10_000;

/**
 * List, then watch, from the first read on; list again whenever changes may have been missed. Only what `keep` returns
 * is kept.
 */
export function createCache<Raw extends KubernetesObject, Kept>(
  options: CacheOptions<Raw, Kept>,
): Cache<Kept> {
  const { clock, log, path, onChange } = options;
  const closing = new AbortController();
  const kept = new Map<string, { readonly version: string; readonly value: Kept }>();
  /** Since when nothing has been heard; only an answer of the server ends it. */
  let lostAt: number | undefined;
  let lastProblem = 'it was never reached';
  const listed = Promise.withResolvers<void>();
  let isListed = false;
  let refusal: string | undefined;
  let all: readonly Kept[] | undefined;

  const put = (object: Raw): void => {
    const key = keyOf(object);
    const before = kept.get(key);
    const version = versionOf(object);
    // Listed again, most objects are as they were.
    if (before?.version === version) return;
    const value = options.keep(object);
    kept.set(key, { version, value });
    all = undefined;
    onChange(value, before?.value);
  };
  const remove = (key: string): void => {
    const before = kept.get(key);
    if (!before) return;
    kept.delete(key);
    all = undefined;
    onChange(undefined, before.value);
  };

  const listAll = async (): Promise<string> => {
    const gone = new Set(kept.keys());
    let page: string | undefined;
    let resourceVersion = '';
    do {
      const { items, metadata } = await options.list(page);
      // A long list is no silence.
      if (!isListed) lostAt = clock.monotonic();
      for (const item of items) {
        gone.delete(keyOf(item));
        put(item);
      }
      page = metadata?._continue;
      resourceVersion = metadata?.resourceVersion ?? '';
    } while (page);
    for (const key of gone) remove(key);
    lostAt = undefined;
    refusal = undefined;
    isListed = true;
    listed.resolve();
    return resourceVersion;
  };

  /** Resolves with where to go on from, or undefined when a new list is needed. */
  const watchFrom = (resourceVersion: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      let at: string | undefined = resourceVersion;
      const abort = (): void => controller?.abort();
      let controller: AbortController | undefined;
      let finished = false;
      const finish = (error: unknown): void => {
        finished = true;
        closing.signal.removeEventListener('abort', abort);
        if (error) lastProblem = problemOf(error);
        if ((error as { statusCode?: number } | null)?.statusCode === 410) at = undefined;
        resolve(at);
      };
      options.kube
        .watch({
          path,
          query: { resourceVersion, allowWatchBookmarks: true },
          silenceMs: longestSilenceMs,
          onEvent(type, given) {
            if (type === 'ERROR') {
              at = undefined;
              return;
            }
            const object = given as Raw;
            at = object.metadata?.resourceVersion ?? at;
            if (type === 'BOOKMARK') return;
            if (type === 'DELETED') remove(keyOf(object));
            else put(object);
          },
          onEnd: finish,
        })
        .then((started) => {
          controller = started;
          if (finished) return;
          lostAt = undefined;
          if (closing.signal.aborted) abort();
          else closing.signal.addEventListener('abort', abort, { once: true });
        }, finish);
    });

  const run = async (): Promise<void> => {
    let resourceVersion: string | undefined;
    while (!closing.signal.aborted) {
      const startedAt = clock.monotonic();
      try {
        resourceVersion ??= await listAll();
        resourceVersion = await watchFrom(resourceVersion);
      } catch (error) {
        resourceVersion = undefined;
        const problem = problemOf(error);
        if (options.optional && isRefusal(error)) {
          if (!refusal) log.warn({ path, problem }, 'not readable: decided without');
          refusal = problem;
          listed.resolve();
          await clock.sleep(askAgainEveryMs, closing.signal);
          continue;
        }
        if (problem !== lastProblem) log.warn({ path, problem }, 'the cluster does not answer');
        lastProblem = problem;
      }
      lostAt ??= clock.monotonic();
      // A watch that ran for a while ended in the ordinary way: go on at once.
      if (clock.monotonic() - startedAt < retryEveryMs) await clock.sleep(retryEveryMs, closing.signal);
    }
  };
  let isStarted = false;
  const start = (): void => {
    if (isStarted) return;
    isStarted = true;
    lostAt = clock.monotonic();
    run().catch((error: unknown) => log.error({ err: error, path }, 'the cluster is no longer watched'));
  };

  return {
    async all() {
      start();
      while (!isListed && !refusal && !closing.signal.aborted) {
        const leftMs = longestGapMs - (clock.monotonic() - (lostAt ?? clock.monotonic()));
        if (leftMs <= 0) break;
        await Promise.race([listed.promise, clock.sleep(leftMs, closing.signal)]);
      }
      if (refusal)
        throw new ClusterError(
          'refused',
          `${path} could not be read (${refusal}): give our account the right to list and watch it`,
        );
      const silentMs = lostAt === undefined ? 0 : clock.monotonic() - lostAt;
      // A part that was never listed is not an empty cluster.
      if (!isListed || silentMs >= longestGapMs)
        throw new ClusterError(
          'unavailable',
          `the Kubernetes API server has not answered for ${Math.round(silentMs / 1000)} s (${lastProblem}). Nothing is powered on or off until it is back`,
        );
      all ??= Array.from(kept.values(), ({ value }) => value);
      return all;
    },
    close: () => closing.abort(),
  };
}

/** Forbidden, or of a kind that the server does not know. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiException && (error.code === 403 || error.code === 404);

const keyOf = (object: KubernetesObject): string =>
  `${object.metadata?.namespace ?? ''}/${object.metadata?.name}`;

/** With the uid: versions restart on a server that was set up again. */
const versionOf = ({ metadata }: KubernetesObject): string => `${metadata?.uid} ${metadata?.resourceVersion}`;
