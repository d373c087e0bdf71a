import type { Writable } from 'node:stream';

/** The environment of a command; tests replace it. */
export interface Io {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Command {
  readonly summary: string;
  /** What follows `bamel <name>`; one line per option below it. */
  readonly usage: string;
  /** Returns the exit code. Throws UsageError for arguments that make no sense. */
  run(args: readonly string[], io: Io): Promise<number>;
}

/** Options are what the usage says they are. */
export const flagsOf = (usage: string): string[] => [...new Set(usage.match(/--[a-z][a-z-]*/g) ?? [])];

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The store a command works on: --store, else BAMEL_STORE. */
export function storeUrl(flag: string | undefined, { env }: Io): string {
  const url = flag ?? env.BAMEL_STORE;
  if (url) return url;
  throw new UsageError(
    'which store? Set BAMEL_STORE or give --store (embedded:path/to/file or etcd://host:2379)',
  );
}

/** A progress line on a terminal that is overwritten; nothing elsewhere. */
export function progressOn({ stderr }: Io, what: string): (done: number, of: number) => void {
  if (!stderr.isTTY) return () => undefined;
  return (done, of) => {
    if (done % 100 !== 0 && done !== of) return;
    stderr.write(`\r${what} ${done} of ${of}${done === of ? '\n' : ''}`);
  };
}
