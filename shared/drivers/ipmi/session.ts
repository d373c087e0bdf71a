import type { SessionKeys } from './keys.ts';
import { type Answer, decodeAnswer, encodeRequest, type Request } from './message.ts';
import { uint32 } from './packet.ts';
import { open, seal } from './seal.ts';
import { type Talk, unanswered } from './talk.ts';
import type { Retransmit } from './transport.ts';

const hasty: Retransmit = { afterMs: 100, tries: 2 };

const closeSession = (session: number): Request => ({
  netFn: 0x06,
  command: 0x3c,
  data: [...uint32(session)],
});

/** What commands are sent through. */
export interface Session {
  /** Throws when no answer comes; what the BMC says about it is for the caller to judge. */
  request(request: Request, what: string): Promise<Answer>;
  /** True: the BMC says that it is closed. Without an answer it may be so all the same. */
  close(): Promise<boolean>;
}

export interface SessionIds {
  readonly console: number;
  readonly bmc: number;
}

export function createSession(talk: Talk, keys: SessionKeys, ids: SessionIds): Session {
  const { line, retransmit, signal } = talk;
  const seen = new Set<number>();
  let packets = 0;
  let requests = 0;

  const exchange = (request: Request, patience: Retransmit, until: AbortSignal | undefined) => {
    // Six bits in the message.
    const number = ++requests % 64;
    return line.exchange(
      // A new packet for every try, or the BMC takes it for a replay; the same message inside.
      () => seal(keys, ids.bmc, ++packets, encodeRequest(request, number)),
      (packet) => {
        const opened = open(keys, ids.console, packet);
        if (!opened || seen.has(opened.sequence)) return undefined;
        seen.add(opened.sequence);
        return decodeAnswer(opened.message, request, number);
      },
      patience,
      until,
    );
  };

  return {
    async request(request, what) {
      const answer = await exchange(request, retransmit, signal);
      if (!answer) throw unanswered(talk, what);
      return answer;
    },
    async close() {
      // A caller whose time is up waits only briefly for this.
      const [patience, until] = signal.aborted ? [hasty, undefined] : [retransmit, signal];
      try {
        return (await exchange(closeSession(ids.bmc), patience, until))?.completion === 0;
      } catch {
        // A closed port: there is no session to close, and the first error is more useful than this one.
        return false;
      }
    },
  };
}
