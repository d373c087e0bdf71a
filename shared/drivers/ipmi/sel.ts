import type { LogReading } from '../../core/machine/hardware-log.ts';
import type { createCommands } from './commands.ts';
import { eventOf } from './sel-events.ts';

type Commands = Pick<ReturnType<typeof createCommands>, 'selInfo' | 'selEntry'>;

/** Of a long log the newest are read: a command each. */
const most = 64;
const newest = 0xffff;
const noMore = 0xffff;

/** Reads what is new in the SEL. Whole records need no reservation. */
export async function readSel(
  commands: Commands,
  after: string | undefined,
): Promise<LogReading | undefined> {
  const info = await commands.selInfo();
  if (!info) return undefined;
  if (info.entries === 0) return { entries: [], restarted: true };
  const [erased, id] = (after ?? '').split('/');
  // Numbers restart when it is cleared.
  const known = erased === String(info.erasedAt) && id ? await commands.selEntry(Number(id)) : undefined;
  const records = known ? await following(commands, known.next) : await newestOf(commands, info.entries);
  const last = records.at(-1)?.readUInt16LE(0);
  return {
    last: last === undefined && known ? after : `${info.erasedAt}/${last}`,
    entries: records.map(eventOf).filter((event) => event !== undefined),
    restarted: !known,
  };
}

/** What does not fit into one reading is read by the next. */
async function following(commands: Commands, first: number): Promise<Buffer[]> {
  const records: Buffer[] = [];
  for (let next = first; next !== noMore && records.length < most; ) {
    const entry = await commands.selEntry(next);
    if (!entry) break;
    records.push(entry.record);
    next = entry.next;
  }
  return records;
}

/** Backwards from the last: the log has no other way back than that its numbers mostly follow each other. */
async function newestOf(commands: Commands, entries: number): Promise<Buffer[]> {
  const last = await commands.selEntry(newest);
  if (!last) return [];
  const records = [last.record];
  const lastId = last.record.readUInt16LE(0);
  for (let id = lastId - 1; id > 0 && id > lastId - most && records.length < entries; id -= 1) {
    const entry = await commands.selEntry(id);
    if (entry) records.unshift(entry.record);
  }
  return records;
}
