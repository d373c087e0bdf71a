import { basicAuth } from '../http/address.ts';
import { settingsAgent } from '../http/agent.ts';
import { retryAfterMs } from '../http/answers.ts';
import { eventMessage } from '../http/event-message.ts';
import { exchange } from '../http/exchange.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventSink } from '../ports/events.ts';
import { newId } from '../process/ids.ts';
import { withoutCredentials } from '../process/redact.ts';
import type { TokenSource } from './authenticate.ts';

/** The event was not accepted. The next tick makes up for it. */
export class SinkError extends Error {
  override readonly name = 'SinkError';
}

export interface HttpSinkOptions {
  /** K_SINK. */
  readonly url: string;
  /** The `source` of the events. */
  readonly source: string;
  readonly clock: Clock;
  /** From K_CE_OVERRIDES. */
  readonly extensions?: Readonly<Record<string, string>> | undefined;
  /** From K_CA_CERTS: additional trusted CAs. */
  readonly caCerts?: string | undefined;
  readonly token?: TokenSource | undefined;
  readonly timeoutMs?: number;
  readonly tries?: number;
}

export interface HttpSink extends EventSink {
  close(): Promise<void>;
}

const firstPauseMs = 100;
const maxPauseMs = 5_000;
/** The statuses that Knative retries; others are final. */
const isRetryable = (status: number) => status >= 500 || [404, 408, 409, 429].includes(status);

/** Sends events as binary CloudEvents. All tries have the same id, for deduplication. */
export function createHttpSink(options: HttpSinkOptions): HttpSink {
  const { source, clock, extensions, caCerts, token, timeoutMs = 5_000, tries = 4 } = options;
  const url = new URL(options.url);
  const agent = settingsAgent(url, caCerts);
  const { username, password } = url;

  async function post(headers: Record<string, string>, body: string): Promise<Attempt> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { status, headers: answered } = await exchange({
        method: 'POST',
        url,
        headers,
        body,
        agent,
        signal,
      });
      return { status, retryAfterMs: retryAfterMs(answered['retry-after'], clock.now()) };
    } catch (error) {
      return {
        problem: signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : (error as Error).message,
      };
    }
  }

  return {
    async emit(event) {
      const time = clock.now();
      const { headers, body } = eventMessage({ ...event, id: newId('ev', time), source, time, extensions });
      const [secret] = ((await token?.()) ?? '').split('\n');
      if (secret) headers.authorization = `Bearer ${secret.trim()}`;
      else if (username || password)
        headers.authorization = basicAuth({
          username: decodeURIComponent(username),
          password: decodeURIComponent(password),
        });
      let last = '';
      for (let attempt = 1; attempt <= tries; attempt++) {
        const { status = 0, problem, retryAfterMs: asked = 0 } = await post(headers, body);
        if (status >= 200 && status < 300) return;
        last = problem ?? `it answered ${status}`;
        if (!problem && !isRetryable(status)) break;
        if (attempt < tries)
          await clock.sleep(Math.min(Math.max(asked, firstPauseMs * 2 ** (attempt - 1)), maxPauseMs));
      }
      throw new SinkError(
        `event ${event.type} was not taken by ${withoutCredentials(url.href)}: ${last}. Check K_SINK, and that it is up.`,
      );
    },
    async close() {
      agent.destroy();
    },
  };
}

interface Attempt {
  readonly status?: number;
  readonly problem?: string;
  readonly retryAfterMs?: number | undefined;
}
