import { durationMs } from '../shared/schema/duration.ts';
import { UsageError } from './command.ts';

/** A duration flag in milliseconds. */
export function durationOf(flag: string, text: string): number {
  const parsed = durationMs.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${flag} ${text}: ${parsed.error.issues[0]?.message}`);
}
