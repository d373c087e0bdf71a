import type { ServerResponse } from 'node:http';
import type { KubeObject } from './objects.ts';
import type { Representation } from './representation.ts';
import type { Target } from './request.ts';
import { both, type Matcher, parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { badRequest, expired } from './status-error.ts';
import type { Store } from './store.ts';
import type { Watches } from './watch.ts';

export function selection({ type }: Target, query: URLSearchParams): Matcher {
  return both(
    parseLabelSelector(query.get('labelSelector')),
    parseFieldSelector(type, query.get('fieldSelector')),
  );
}

/** Where the next page of a list begins, and the version of its first page. */
interface Continue {
  readonly version: number;
  readonly after: string;
}

const encode = (value: Continue) => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(text: string): Continue {
  try {
    const { version, after } = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof version === 'number' && typeof after === 'string') return { version, after };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw badRequest('continue key is not valid: list again without it');
}

const orderKey = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Objects in the order of their names, so that pages neither overlap nor leave gaps. */
function inOrder(objects: Iterable<KubeObject>, matches: Matcher): { key: string; object: KubeObject }[] {
  const found: { key: string; object: KubeObject }[] = [];
  for (const object of objects) if (matches(object)) found.push({ key: orderKey(object), object });
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Large enough that a long list is not written in thousands of tiny pieces. */
const pieceSize = 64 * 1024;

function sendPieces(response: ServerResponse, pieces: Iterable<string>): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < pieceSize) continue;
    response.write(text);
    text = '';
  }
  response.end(text);
}

export function list(
  store: Store,
  target: Target,
  query: URLSearchParams,
  representation: Representation,
  response: ServerResponse,
): void {
  const stored = store.types.stored(target.type);
  const all = inOrder(store.list(stored, target.namespace), selection(target, query));
  const from = query.get('continue') ? decode(query.get('continue') ?? '') : undefined;
  if (from && !store.history.knows(from.version))
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
    );
  const rest = from ? all.filter(({ key }) => key > from.after) : all;
  const limit = Number(query.get('limit')) || rest.length;
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  // The version of the first page: a watch from there misses nothing that happened between the pages.
  const version = from?.version ?? store.version;
  const more = rest.length - page.length;
  const metadata = {
    resourceVersion: `${version}`,
    ...(more && last ? { continue: encode({ version, after: last.key }), remainingItemCount: more } : {}),
  };
  sendPieces(
    response,
    representation.list(
      page.map(({ object }) => object),
      metadata,
    ),
  );
}

const isTrue = (text: string | null) => text === 'true' || text === '1';

export function watch(
  store: Store,
  watches: Watches,
  target: Target,
  query: URLSearchParams,
  representation: Representation,
  response: ServerResponse,
): void {
  const only: Matcher =
    target.name === undefined ? () => true : ({ metadata }) => metadata.name === target.name;
  const options = {
    type: target.type,
    stored: store.types.stored(target.type),
    namespace: target.namespace,
    matches: both(only, selection(target, query)),
    representation,
    resourceVersion: query.get('resourceVersion') || '0',
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
    // As the real server: between 30 and 60 minutes, so that not all clients come back at once.
    timeoutSeconds: Number(query.get('timeoutSeconds')) || 1800 * (1 + Math.random()),
  };
  watches.open(options, response);
}
