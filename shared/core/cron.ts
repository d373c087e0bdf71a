/** A cron line of five fields, each as the set of values that match. */
interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** As cron has it: when both days are restricted, either matches. */
  readonly eitherDay: boolean;
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const fields: readonly [Field, Field, Field, Field, Field] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: monthNames },
  { name: 'day of week', from: 0, to: 7, names: dayNames },
];

/** What is wrong with a cron line, or nothing. */
export function cronProblem(text: string): string | undefined {
  const parsed = parseCron(text);
  return typeof parsed === 'string' ? parsed : undefined;
}

export function parseCron(text: string): Cron | string {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return `write five fields: ${fields.map(({ name }) => name).join(', ')} ("0 7 * * 1-5")`;
  const sets: ReadonlySet<number>[] = [];
  for (const [index, field] of fields.entries()) {
    const set = parseField(parts[index] ?? '', field);
    if (!set)
      return `${parts[index]} is no ${field.name}: write ${field.from}-${field.to}, *, */n, or a list`;
    sets.push(set);
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
  ];
  const eitherDay = !parts[2]?.startsWith('*') && !parts[4]?.startsWith('*');
  // 7 is Sunday too.
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((day) => day % 7)), eitherDay };
}

function parseField(text: string, { from, to, names }: Field): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const match = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return undefined;
    const number = (word: string): number => {
      const named = names?.indexOf(word) ?? -1;
      return named >= 0 ? named + from : /^\d+$/.test(word) ? Number(word) : Number.NaN;
    };
    const [, first = '', last, step] = match;
    if (first === '*' && last !== undefined) return undefined;
    const low = first === '*' ? from : number(first);
    const high = last !== undefined ? number(last) : first === '*' || step !== undefined ? to : low;
    const every = step === undefined ? 1 : Number(step);
    if (!(low >= from && high <= to && low <= high && every > 0)) return undefined;
    for (let value = low; value <= high; value += every) values.add(value);
  }
  return values;
}

const minuteMs = 60_000;
const dayMinutes = 1440;

/**
 * How long ago the line last matched, looking back no further than `backMs`; undefined when it did not.
 * Days are walked, not minutes: a window of a month costs thirty looks.
 */
export function sinceLast(cron: Cron, now: number, backMs: number, timeZone?: string): number | undefined {
  const local = now + offsetMs(now, timeZone);
  const minute = Math.floor(local / minuteMs);
  const earliest = minute - Math.floor(backMs / minuteMs);
  for (let day = Math.floor(minute / dayMinutes); (day + 1) * dayMinutes > earliest; day -= 1) {
    if (!dayMatches(cron, day)) continue;
    const latest = Math.min(minute, (day + 1) * dayMinutes - 1) - day * dayMinutes;
    for (let hour = Math.floor(latest / 60); hour >= 0; hour -= 1) {
      if (!cron.hours.has(hour)) continue;
      for (let of = Math.min(59, latest - hour * 60); of >= 0; of -= 1) {
        if (!cron.minutes.has(of)) continue;
        const at = day * dayMinutes + hour * 60 + of;
        return at > earliest ? local - at * minuteMs : undefined;
      }
    }
  }
  return undefined;
}

function dayMatches(cron: Cron, day: number): boolean {
  const { month, dayOfMonth } = civil(day);
  if (!cron.months.has(month)) return false;
  const byDate = cron.days.has(dayOfMonth);
  // The first of January 1970 was a Thursday.
  const byWeek = cron.weekdays.has((((day + 4) % 7) + 7) % 7);
  return cron.eitherDay ? byDate || byWeek : byDate && byWeek;
}

/** Days since the epoch → month and day, by counting from the first of March in eras of 400 years. */
function civil(day: number): { readonly month: number; readonly dayOfMonth: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  return {
    month: fromMarch < 10 ? fromMarch + 3 : fromMarch - 9,
    dayOfMonth: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

/** How far the zone's clocks are ahead of UTC at that time. */
function offsetMs(now: number, timeZone: string | undefined): number {
  if (timeZone === undefined || timeZone === 'UTC') return 0;
  const text = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).format(now);
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(text);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return (match[1] === '-' ? -minutes : minutes) * minuteMs;
}
