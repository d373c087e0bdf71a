import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { KubeApi } from './kube-api.ts';
import type { Log } from './log.ts';

interface Watched {
  metadata: { uid: string; resourceVersion: string };
}

const List = z.object({ metadata: z.object({ resourceVersion: z.string() }), items: z.array(z.unknown()) });
const Event = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string().optional() }).optional() }),
});

const pauseAfterFailure = 500;

/** Keeps calling with what is there and what is gone until stopped: list, watch, and again when that breaks. */
export function watchAll<T extends Watched>(
  api: KubeApi,
  path: string,
  schema: z.ZodType<T>,
  onChange: (there: boolean, object: T) => void,
  log: Log,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const known = new Map<string, T>();
  const present = (object: T) => {
    known.set(object.metadata.uid, object);
    onChange(true, object);
  };
  const gone = (object: T) => {
    known.delete(object.metadata.uid);
    onChange(false, object);
  };

  const list = async (): Promise<string> => {
    const { status, body } = await api.send('GET', path);
    if (status !== 200) throw new Error(`listing ${path} was answered with ${status}`);
    const { metadata, items } = List.parse(body);
    const objects = items.map((item) => schema.parse(item));
    const uids = new Set(objects.map((object) => object.metadata.uid));
    for (const object of [...known.values()]) if (!uids.has(object.metadata.uid)) gone(object);
    for (const object of objects) present(object);
    return metadata.resourceVersion;
  };

  /** Returns the version to go on from, or undefined when only a new list helps. */
  const follow = async (from: string): Promise<string | undefined> => {
    let version: string | undefined = from;
    await api.lines(`${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`, signal, (line) => {
      const { type, object } = Event.parse(JSON.parse(line));
      if (type === 'ERROR') version = undefined;
      else if (version !== undefined) version = object.metadata?.resourceVersion ?? version;
      if (type === 'ADDED' || type === 'MODIFIED') present(schema.parse(object));
      if (type === 'DELETED') gone(schema.parse(object));
    });
    return version;
  };

  const run = async () => {
    let version: string | undefined;
    while (!signal.aborted) {
      try {
        version = version === undefined ? await list() : await follow(version);
      } catch (error) {
        if (signal.aborted) return;
        version = undefined;
        log('watch broke, listing again', { path, error: String(error) });
        await sleep(pauseAfterFailure, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
