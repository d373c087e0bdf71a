import { type Action, perform } from './actions.ts';
import type { Io } from './command.ts';
import { type Followed, follow, lookThrough } from './follow.ts';
import { whoAsks } from './operate.ts';
import { openSource, type SourceOptions } from './source.ts';

export interface Acting {
  readonly machine: string;
  readonly deed: Action;
  readonly options: SourceOptions;
  readonly by?: string;
  /** Undefined: it is begun, and no more. */
  readonly longestMs?: number | undefined;
}

/** Runs the action and follows its operation to the end; succeeds if nothing had to be done. */
export async function act(
  { machine, deed, options, by = whoAsks(), longestMs }: Acting,
  io: Io,
): Promise<Followed> {
  const asked = await perform(deed, machine, by, options, io);
  if (!asked.ok) throw new Error(asked.why);
  if (!asked.operation || longestMs === undefined) {
    io.stdout.write(`${asked.answer}\n`);
    return 'done';
  }
  const source = await openSource(options, io);
  try {
    const end = await follow(lookThrough(source), { machine, operation: asked.operation, longestMs }, io);
    if (end === 'late') io.stderr.write(`${machine}: still under way; it goes on\n`);
    return end;
  } finally {
    await source.close();
  }
}

/** The same, as the end of a command. */
export const actAndExit = async (acting: Acting, io: Io): Promise<number> =>
  (await act(acting, io)) === 'done' ? 0 : 1;
