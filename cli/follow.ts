import type { Inventory, MachineRecord, StoredOperation } from '../shared/adapters/inventory.ts';
import { realClock } from '../shared/runtime/clock.ts';
import type { Io } from './command.ts';

/** How often the store is looked at, and after how long without any sign it is said that nobody is at it. */
const lookEveryMs = 300;
const silenceMs = 20_000;

export type Followed = 'done' | 'failed' | 'cancelled' | 'nobody' | 'late';

export interface Follow {
  readonly machine: string;
  readonly operation: string;
  readonly longestMs: number;
}

/** Prints what happens to an operation, line by line, until it ends. */
export async function follow(
  inventory: Inventory,
  { machine, operation, longestMs }: Follow,
  io: Io,
): Promise<Followed> {
  const printed = new Set<string>();
  const begun = Date.now();
  const say = (at: number, text: string): void => {
    const line = `${new Date(at).toISOString().slice(11, 19)}  ${machine}  ${text}`;
    if (!printed.has(line)) io.stdout.write(`${line}\n`);
    printed.add(line);
  };
  let warned = false;
  for (;;) {
    const [found, record] = await Promise.all([inventory.operation(operation), inventory.machine(machine)]);
    const steps = stepsOf(found?.stored, record, operation);
    for (const { at, text } of steps) say(at, text);
    const { end, error } = found?.stored ?? {};
    if (end) {
      if (error) io.stderr.write(`${machine}: ${error}\n`);
      return end;
    }
    const waited = Date.now() - begun;
    // The first line is the intent itself.
    if (steps.length <= 1 && waited > silenceMs && !warned) {
      warned = true;
      io.stderr.write(
        `${machine}: nobody has taken it up for ${silenceMs / 1000} s. Does a host run on this store? The operation waits for one.\n`,
      );
      return 'nobody';
    }
    if (waited > longestMs) return 'late';
    await realClock.sleep(lookEveryMs);
  }
}

interface Step {
  readonly at: number;
  readonly text: string;
}

/** What was written about the operation so far, in order. */
function stepsOf(
  operation: StoredOperation | undefined,
  record: MachineRecord | undefined,
  id: string,
): Step[] {
  const happened = (record?.history ?? [])
    .filter((entry) => entry.operation === id)
    .map(({ at, event, to, why }) => ({
      at,
      text: `${event.replaceAll('-', ' ')}: ${to}${why ? ` (${why})` : ''}`,
    }));
  const sent = (operation?.commands ?? []).map(({ at, verb }) => ({
    at,
    text: `${verb.replace('-', ' ')} sent to its BMC`,
  }));
  const progress = (operation?.progress ?? []).map(({ at, what }) => ({ at, text: `boot: ${what}` }));
  return [...happened, ...sent, ...progress].sort((a, b) => a.at - b.at);
}
