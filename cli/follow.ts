import type { Drain } from '../shared/core/machine/machine.ts';
import { realClock } from '../shared/process/clock.ts';
import type { HistoryEntry } from '../shared/state/machine-record.ts';
import { MachineDetailShape, type OperationView } from '../shared/view/shapes.ts';
import type { Io } from './command.ts';
import { kinds } from './kinds.ts';
import type { Source } from './source.ts';

/** Interval of store reads, and time without progress after which the operation counts as not taken up. */
const lookEveryMs = 300;
const silenceMs = 20_000;

export type Followed = 'done' | 'failed' | 'cancelled' | 'nobody' | 'late';

/** An operation and its machine. */
interface Sight {
  readonly operation?: {
    readonly commands: readonly { readonly verb: string; readonly at: number }[];
    readonly progress?: readonly { readonly at: number; readonly what: string }[] | undefined;
    readonly end?: OperationView['end'];
    readonly error?: string | undefined;
  };
  readonly history: readonly Omit<HistoryEntry, 'by'>[];
  readonly drain?: Drain | undefined;
}

/** Looks at an operation. */
export type Look = (machine: string, operation: string) => Promise<Sight>;

export const lookThrough =
  (source: Source): Look =>
  async (machine, id) => {
    const { data } = MachineDetailShape.safeParse(await source.one(kinds.machines.path, machine));
    const operation = data?.operations.find((one) => one.id === id);
    return { ...(operation && { operation }), history: data?.history ?? [], drain: data?.drain };
  };

export interface Follow {
  readonly machine: string;
  readonly operation: string;
  readonly longestMs: number;
}

/** Prints what happens to an operation, line by line, until it ends. */
export async function follow(
  look: Look,
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
  let drained: string | undefined;
  for (;;) {
    const sight = await look(machine, operation);
    const steps = stepsOf(sight, operation);
    for (const { at, text } of steps) say(at, text);
    const left = drainText(sight.drain);
    if (left && left !== drained) say(Date.now(), left);
    drained = left;
    const { end, error } = sight.operation ?? {};
    if (end) {
      if (error) io.stderr.write(`${machine}: ${error}\n`);
      return end;
    }
    const waited = Date.now() - begun;
    // The first line is the intent itself.
    if (steps.length <= 1 && waited > silenceMs && !warned) {
      warned = true;
      io.stderr.write(
        `${machine}: no process has started it for ${silenceMs / 1000} s. Does a host run on this store? The operation waits for one.\n`,
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

/** The recorded steps of the operation, in order. */
function stepsOf({ operation, history }: Sight, id: string): Step[] {
  const happened = history
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

/** Only while there is something to wait for. */
const drainText = (drain: Drain | undefined): string | undefined =>
  drain && drain.podsLeft > 0
    ? `${drain.podsTotal - drain.podsLeft} of ${drain.podsTotal} pods gone${drain.waitingFor ? `; waits for ${drain.waitingFor}` : ''}`
    : undefined;
