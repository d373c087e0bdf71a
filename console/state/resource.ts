import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { backoffMs } from './backoff.ts';
import { call, Refused } from './call.ts';
import { now } from './clock.ts';
import { changesUnannounced, changesWith } from './kinds.ts';
import { share } from './share.ts';

export interface Resource<Data> {
  readonly data: Signal<Data | undefined>;
  /** Why there is none, or none that is newer, when the host said so. A banner reports a silent host. */
  readonly problem: Signal<Problem | undefined>;
  /** When the host last answered. */
  readonly readAt: Signal<number>;
}

interface Problem {
  readonly message: string;
  /** Asking again would not help: it is not there, or not for this token. */
  readonly final: boolean;
}

interface Held extends Resource<unknown> {
  readonly path: `/${string}`;
  users: number;
  etag: string;
  busy: boolean;
  stale: boolean;
  failures: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

const held = new Map<string, Held>();
const pollMs = 5_000;

/** What the host says at this path, kept up to date while a component uses it. */
export function useApi<Data>(path: `/${string}`): Resource<Data> {
  const resource = hold(path);
  useEffect(() => {
    resource.users += 1;
    load(resource);
    return () => {
      resource.users -= 1;
      if (resource.users > 0) return;
      held.delete(path);
      clearTimeout(resource.timer);
    };
  }, [resource, path]);
  // The path says what is answered there: apps/api/routes.ts is the other end of this.
  return resource as Resource<Data>;
}

/** Asks again for what is on the screen and may have changed; everything when the kinds are not known. */
export function refresh(kinds?: readonly string[]): void {
  for (const resource of held.values()) if (changesWith(resource.path, kinds)) load(resource);
}

/** Asks again now. */
export function retry(of: Resource<unknown>): void {
  for (const resource of held.values()) if (resource.problem === of.problem) load(resource);
}

/** Asks now and then for what nobody announces. */
export function keepFresh(): void {
  setInterval(() => {
    if (document.visibilityState === 'hidden') return;
    for (const resource of held.values()) if (changesUnannounced(resource.path)) load(resource);
  }, pollMs);
}

function hold(path: `/${string}`): Held {
  const known = held.get(path);
  if (known) return known;
  const made: Held = {
    path,
    data: signal(undefined),
    problem: signal(undefined),
    readAt: signal(0),
    users: 0,
    etag: '',
    busy: false,
    stale: false,
    failures: 0,
  };
  held.set(path, made);
  return made;
}

function refused(resource: Held, { status, message }: Refused): void {
  const final = status === 403 || status === 404;
  resource.problem.value = { message, final };
  // Any other answer, of a busy host or of a proxy before one that is away, says nothing of what was known.
  if (!final) return;
  resource.data.value = undefined;
  resource.etag = '';
}

/** A failure is not the end: nothing else would ask again for what only changes by announcement. */
function tryLater(resource: Held): void {
  resource.failures += 1;
  clearTimeout(resource.timer);
  resource.timer = setTimeout(() => {
    if (resource.users > 0) load(resource);
  }, backoffMs(resource.failures));
}

/** One request at a time: what changes meanwhile is asked for once more afterwards. */
async function load(resource: Held): Promise<void> {
  if (resource.busy) {
    resource.stale = true;
    return;
  }
  resource.busy = true;
  resource.stale = false;
  try {
    const response = await call(resource.path, { headers: { 'if-none-match': resource.etag } });
    if (response.status !== 304) {
      resource.data.value = share(resource.data.value, await response.json());
      resource.etag = response.headers.get('etag') ?? '';
    }
    resource.failures = 0;
    resource.readAt.value = now.value;
    resource.problem.value = undefined;
  } catch (error) {
    if (!(error instanceof Refused)) tryLater(resource);
    else if (error.status !== 401) {
      refused(resource, error);
      if (!resource.problem.value?.final) tryLater(resource);
    }
  } finally {
    resource.busy = false;
    if (resource.stale && resource.users > 0) load(resource);
  }
}
