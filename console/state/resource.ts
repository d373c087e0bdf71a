import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, Refused } from './call.ts';
import { changesUnannounced, changesWith } from './kinds.ts';
import { share } from './share.ts';

export interface Resource<Data> {
  readonly data: Signal<Data | undefined>;
  /** Why there is none, or none that is newer, when the host said so. That it is silent, a banner tells. */
  readonly problem: Signal<string | undefined>;
}

interface Held extends Resource<unknown> {
  readonly path: `/${string}`;
  users: number;
  etag: string;
  busy: boolean;
  stale: boolean;
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
      if (resource.users === 0) held.delete(path);
    };
  }, [resource, path]);
  // The path says what is answered there: apps/api/routes.ts is the other end of this.
  return resource as Resource<Data>;
}

/** Asks again for what is on the screen and may have changed; everything when the kinds are not known. */
export function refresh(kinds?: readonly string[]): void {
  for (const resource of held.values()) if (changesWith(resource.path, kinds)) load(resource);
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
    users: 0,
    etag: '',
    busy: false,
    stale: false,
  };
  held.set(path, made);
  return made;
}

function refused(resource: Held, { status, message }: Refused): void {
  resource.problem.value = message;
  // Any other answer, of a busy host or of a proxy before one that is away, says nothing of what was known.
  if (status !== 403 && status !== 404) return;
  resource.data.value = undefined;
  resource.etag = '';
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
    resource.problem.value = undefined;
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) refused(resource, error);
  } finally {
    resource.busy = false;
    if (resource.stale && resource.users > 0) load(resource);
  }
}
