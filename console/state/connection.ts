import { effect, signal } from '@preact/signals';
import { backoffMs } from './backoff.ts';
import { call, Refused } from './call.ts';
import { refresh } from './resource.ts';
import { createSseParser, type ServerEvent } from './sse.ts';
import { token, tokenWanted } from './token.ts';

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'lost'; readonly since: number; readonly retryAt: number; readonly why: string };

export const connection = signal<Connection>({ state: 'connecting' });

/** The host says something every 15 s: longer silence is a line that nobody has told us is dead. */
const silenceMs = 40_000;
/** Proxies end what lasts for minutes: so long the next one may take before anybody is told. */
const againMs = 5_000;

let wake: () => void = () => undefined;
export const tryNow = (): void => wake();

/** Follows the stream of changes for as long as the page is open. */
export function keepConnected(): void {
  effect(() => {
    if (token.value) wake();
  });
  window.addEventListener('online', tryNow);
  void follow();
}

async function follow(): Promise<void> {
  let failures = 0;
  let lostSince: number | undefined;
  for (;;) {
    const { why, wasLive, isEnded } = await listen(failures === 1 ? againMs : silenceMs);
    if (wasLive) {
      failures = 0;
      lostSince = undefined;
    }
    failures += 1;
    lostSince ??= Date.now();
    const wait = backoffMs(failures);
    if (!wasLive || !isEnded)
      connection.value = { state: 'lost', since: lostSince, retryAt: Date.now() + wait, why };
    // A wrong token stays wrong until somebody types another one.
    await pause(tokenWanted.value ? undefined : wait);
  }
}

interface Ended {
  readonly why: string;
  /** Whether anything came before. */
  readonly wasLive: boolean;
  /** Not silent: the other end, or something in between, ended it. */
  readonly isEnded: boolean;
}

/** Resolves, with the reason, once the stream is over. */
async function listen(patienceMs: number): Promise<Ended> {
  const stop = new AbortController();
  let wasLive = false;
  let watchdog = setTimeout(() => stop.abort(), patienceMs);
  const onEvent = ({ event, data }: ServerEvent): void => {
    if (event === 'changed') refresh(JSON.parse(data));
    if (event !== 'hello') return;
    wasLive = true;
    connection.value = { state: 'live' };
    refresh();
  };
  try {
    const response = await call('/api/stream', { signal: stop.signal });
    const feed = createSseParser(onEvent);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return { why: 'the host ended the connection', wasLive, isEnded: true };
      clearTimeout(watchdog);
      watchdog = setTimeout(() => stop.abort(), silenceMs);
      feed(piece.value);
    }
  } catch (error) {
    const why = error instanceof Refused ? error.message : 'the host does not answer';
    return { why, wasLive, isEnded: !stop.signal.aborted };
  } finally {
    clearTimeout(watchdog);
    stop.abort();
  }
}

function pause(ms: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
