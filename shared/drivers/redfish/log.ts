import type { LogEntry as Found, LogReading } from '../../core/machine/hardware-log.ts';
import { PowerError } from '../../ports/power.ts';
import type { Client } from './client.ts';
import { LogEntries, LogEntry, LogService, Manager, type Whereabouts } from './schema.ts';

/** Which log of a BMC is the one about its hardware, found once; `none`: it keeps none. */
export interface KnownLogs {
  entries?: string | 'none';
}

const mostServices = 8;
const mostPages = 8;
/** Of a log that begins with the newest, more pages are not read. */
const enough = 64;
/** Where a list has only links, the newest are read one by one. */
const mostSingly = 16;
/** Messages are kept with the machine, and shown. */
const longestText = 200;

/** Logs by what vendors call them, the one that is meant first: others are about logins, dumps or boot codes. */
const names = /^(sel|iml|eventlog|platformlog|log1)$/i;

/** Reads what is new in the log of the hardware. */
export async function readLog(
  client: Client,
  system: () => Promise<Whereabouts> | Whereabouts,
  known: KnownLogs,
  after: string | undefined,
): Promise<LogReading | undefined> {
  known.entries ??= (await findLog(client, await system())) ?? 'none';
  if (known.entries === 'none') return undefined;
  let members: LogEntry[];
  try {
    members = await listed(client, known.entries, after);
  } catch (error) {
    // A firmware update may have moved it: it is discovered again next time.
    if (error instanceof PowerError && error.code === 'refused') delete known.entries;
    throw error;
  }
  const at = after === undefined ? -1 : members.findIndex((entry) => nameOf(entry) === after);
  const last = members.at(-1);
  return {
    last: last && nameOf(last),
    entries: members.flatMap((entry, index) => meaningOf(entry, index > at) ?? []),
    restarted: at === -1,
  };
}

/** In what an entry differs from another one that gets its number after the log was cleared. */
const nameOf = ({ Id, Created }: LogEntry): string => `${Id ?? ''} ${Created ?? ''}`.trim();

function meaningOf(entry: LogEntry, isNew: boolean): Found | undefined {
  const { Severity, Message, Created, EntryCode, SensorType, SensorNumber, Resolved } = entry;
  const at = Date.parse(Created ?? '');
  const about = EntryCode ? `${SensorType ?? ''} ${SensorNumber ?? ''}` : nameOf(entry);
  if (EntryCode === 'Deassert') return isNew ? { kind: 'over', about, text: '' } : undefined;
  // Entries that were read before may be resolved since.
  if (Resolved) return EntryCode ? undefined : { kind: 'over', about, text: '' };
  if (!isNew || Severity !== 'Critical') return undefined;
  const when = Created ? ` (${Created})` : '';
  return {
    kind: 'critical',
    about,
    text: `${(Message ?? 'it does not say what').slice(0, longestText)}${when}`,
    at: Number.isNaN(at) ? undefined : at,
  };
}

const order = (entry: LogEntry | undefined): number =>
  Date.parse(entry?.Created ?? '') || Number(entry?.Id) || 0;

/** Oldest first: BMCs list them in either order. */
async function listed(client: Client, path: string, after: string | undefined): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  let next: string | null | undefined = path;
  for (let pages = 0; next && pages < mostPages; pages += 1) {
    const page: LogEntries = await client.get(LogEntries, next, 'log entries');
    all.push(...page.Members);
    const newestFirst = order(page.Members[0]) > order(page.Members.at(-1));
    if (newestFirst && (all.length >= enough || all.some((entry) => nameOf(entry) === after))) break;
    next = page['Members@odata.nextLink'];
  }
  const whole = all.every(({ Id, Severity }) => Id && Severity) ? all : await readSingly(client, all);
  return whole.toSorted((one, other) => order(one) - order(other) || Number(one.Id) - Number(other.Id) || 0);
}

async function readSingly(client: Client, members: readonly LogEntry[]): Promise<LogEntry[]> {
  const number = (entry: LogEntry): number => Number(/\d+$/.exec(entry['@odata.id'] ?? '')?.[0] ?? 0);
  const newest = members.toSorted((one, other) => number(one) - number(other)).slice(-mostSingly);
  const entries: LogEntry[] = [];
  for (const { '@odata.id': path } of newest)
    if (path) entries.push(await client.get(LogEntry, path, 'log entry'));
  return entries;
}

/** The system's own first, then that of the BMC that manages it: vendors keep it at either. */
async function findLog(client: Client, system: Whereabouts): Promise<string | undefined> {
  const own = system.LogServices && (await pick(client, system.LogServices['@odata.id']));
  if (own) return own;
  for (const manager of system.Links?.ManagedBy ?? []) {
    const { LogServices } = await client.get(Manager, manager['@odata.id'], 'manager');
    const found = LogServices && (await pick(client, LogServices['@odata.id']));
    if (found) return found;
  }
  return undefined;
}

async function pick(client: Client, services: string): Promise<string | undefined> {
  const found: LogService[] = [];
  for (const path of (await client.members(services, 'log services')).slice(0, mostServices))
    found.push(await client.get(LogService, path, 'log service'));
  const log =
    found.find(({ LogEntryType }) => LogEntryType === 'SEL') ?? found.find(({ Id }) => names.test(Id ?? ''));
  return log?.Entries?.['@odata.id'];
}
