import { connect } from 'node:net';
import { damagedRequest } from './mutations.ts';
import { createRandom } from './random.ts';
import type { Parts } from './templates.ts';

export interface Campaign {
  readonly seed: number;
  /** How many requests were answered with each status; `closed`: without one. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests, as text, that were answered with a 5xx: there must be none. */
  readonly failures: readonly string[];
  readonly perSecond: number;
}

const atOnce = 32;
/** A whole request gets an answer, however busy we are; what is not whole may be waited on for ever. */
const patienceMs = { whole: 60_000, cut: 250 };

/** A go-ahead, which is a 1xx, is no answer yet. */
const answer = /HTTP\/1\.1 ([2-5]\d\d) /;

/** Sends damaged requests, each on a connection of its own, and notes the answers. */
export async function runCampaign(options: {
  readonly port: number;
  readonly requests: number;
  readonly seed: number;
  /** Sent with every request, before the damage. */
  readonly headers: Parts['headers'];
}): Promise<Campaign> {
  const { port, requests, seed, headers } = options;
  const random = createRandom(seed);
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  let left = requests;
  const sender = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const bytes = damagedRequest(random, headers);
      const status = await statusOf(port, bytes);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status.startsWith('5')) failures.push(`${status}: ${bytes.toString('latin1').slice(0, 500)}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, sender));
  const perSecond = Math.round(requests / ((performance.now() - began) / 1_000));
  return { seed, statuses, failures, perSecond };
}

function statusOf(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const finish = (): void => {
      socket.destroy();
      resolve(answer.exec(text)?.[1] ?? 'closed');
    };
    socket.setTimeout(isWhole(bytes) ? patienceMs.whole : patienceMs.cut, finish);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (answer.test(text)) finish();
    });
    // A reset is an answer as well: it refused to read on.
    socket.on('error', finish);
    socket.on('close', finish);
  });
}

/** Whether the server has all that the request says it has. */
function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, Math.max(0, end));
  if (end < 0 || /^transfer-encoding:/im.test(head)) return false;
  const lengths = [...head.matchAll(/^content-length:(.*)$/gim)].map(([, length]) => Number(length));
  return lengths.every((length) => length <= bytes.length - end - 4);
}
