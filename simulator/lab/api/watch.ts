import type { ServerResponse } from 'node:http';
import type { Change } from './history.ts';
import type { KubeObject } from './objects.ts';
import type { Representation } from './representation.ts';
import { groupVersionOf, type ResourceType } from './resource-types.ts';
import type { Matcher } from './selectors.ts';
import { badRequest, expired } from './status-error.ts';
import type { Store } from './store.ts';

export interface WatchOptions {
  readonly type: ResourceType;
  readonly stored: ResourceType;
  readonly namespace: string | undefined;
  readonly matches: Matcher;
  readonly representation: Representation;
  readonly resourceVersion: string;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean;
  readonly timeoutSeconds: number;
}

interface Watcher extends WatchOptions {
  readonly response: ServerResponse;
  timer?: NodeJS.Timeout;
}

/** A watcher that reads slower than the cluster changes is cut off and lists again. */
const mostUnread = 64 * 1024 * 1024;

const keyOf = ({ group, plural }: ResourceType) => `${group}/${plural}`;

const withVersion = (object: KubeObject, version: number): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: `${version}` },
});

/** A change as one watcher sees it: an object that starts or stops matching comes and goes. */
function seenBy(
  { namespace, matches }: WatchOptions,
  change: Change,
): { type: Change['type']; object: KubeObject } | undefined {
  const { object, previous, version } = change;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return undefined;
  const is = change.type !== 'DELETED' && matches(object);
  const was = previous !== undefined && matches(previous);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  if (!was) return undefined;
  return { type: 'DELETED', object: change.type === 'DELETED' ? object : withVersion(previous, version) };
}

/** All open watches of a server. */
export class Watches {
  readonly #store: Store;
  readonly #byType = new Map<string, Set<Watcher>>();
  readonly #unsubscribe: () => void;
  readonly #bookmarks: NodeJS.Timeout;

  constructor(store: Store, bookmarkMs: number) {
    this.#store = store;
    this.#unsubscribe = store.subscribe((change) => {
      for (const watcher of this.#byType.get(keyOf(change.resource)) ?? []) this.#tell(watcher, change);
    });
    this.#bookmarks = setInterval(() => {
      for (const watchers of this.#byType.values())
        for (const watcher of watchers) if (watcher.bookmarks) this.#bookmark(watcher);
    }, bookmarkMs).unref();
  }

  open(options: WatchOptions, response: ServerResponse): void {
    const { resourceVersion, type, stored } = options;
    const version = Number(resourceVersion);
    if (!Number.isInteger(version) || version < 0)
      throw badRequest(`Invalid value: "${resourceVersion}": resourceVersion is no version of this server`);
    const fromNow = version === 0 || options.sendInitialEvents;
    response.writeHead(200, { 'content-type': 'application/json' });
    // Without this the client sees no answer before the first event.
    response.flushHeaders();
    const watcher: Watcher = { ...options, response };
    if (fromNow) this.#sendPresent(watcher);
    else if (!this.#store.history.knows(version)) {
      const error = expired(`too old resource version: ${resourceVersion} (${this.#store.version})`);
      response.end(`${JSON.stringify({ type: 'ERROR', object: error.body() })}\n`);
      return;
    } else
      for (const change of this.#store.history.since(version))
        if (keyOf(change.resource) === keyOf(stored)) this.#tell(watcher, change);
    if (options.sendInitialEvents)
      this.#bookmark(watcher, { annotations: { 'k8s.io/initial-events-end': 'true' } });
    const watchers = this.#byType.get(keyOf(type.alias ? stored : type)) ?? new Set();
    this.#byType.set(keyOf(type.alias ? stored : type), watchers.add(watcher));
    watcher.timer = setTimeout(() => response.end(), options.timeoutSeconds * 1000).unref();
    response.on('close', () => {
      clearTimeout(watcher.timer);
      watchers.delete(watcher);
    });
  }

  close(): void {
    this.#unsubscribe();
    clearInterval(this.#bookmarks);
    for (const watchers of this.#byType.values()) for (const { response } of watchers) response.end();
  }

  #sendPresent(watcher: Watcher): void {
    const { namespace, matches } = watcher;
    for (const object of this.#store.list(watcher.stored, namespace))
      if (matches(object)) this.#send(watcher, 'ADDED', object);
  }

  #tell(watcher: Watcher, change: Change): void {
    const seen = seenBy(watcher, change);
    if (seen) this.#send(watcher, seen.type, seen.object);
  }

  #send({ representation, response }: Watcher, type: Change['type'], object: KubeObject): void {
    if (response.writableLength > mostUnread) {
      response.destroy();
      return;
    }
    response.write(`{"type":"${type}","object":${representation.one(object)}}\n`);
  }

  #bookmark({ type, response }: Watcher, metadata: object = {}): void {
    const object = {
      kind: type.kind,
      apiVersion: groupVersionOf(type),
      metadata: { resourceVersion: `${this.#store.version}`, creationTimestamp: null, ...metadata },
    };
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }
}
