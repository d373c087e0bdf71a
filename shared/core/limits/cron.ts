import { Cron } from 'croner';

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  {
    name: 'month',
    from: 1,
    to: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', from: 0, to: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/** The problem of a cron line, or undefined. */
export function cronProblem(text: string): string | undefined {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return `write five fields: ${fields.map(({ name }) => name).join(', ')} ("0 7 * * 1-5")`;
  for (const [index, field] of fields.entries()) {
    const part = parts[index] ?? '';
    const alone = fields.map((_, other) => (other === index ? part : '*')).join(' ');
    if (!hasShape(part, field) || !parse(alone, 'UTC'))
      return `${part} is no ${field.name}: write ${field.from}-${field.to}, *, */n, or a list`;
  }
  return undefined;
}

/** Refuses what croner allows besides: L, W, #, ?, + and nicknames. */
function hasShape(part: string, { names = [] }: Field): boolean {
  const value = ['\\d+', ...names].join('|');
  const item = new RegExp(`^(\\*|(${value})(-(${value}))?)(/\\d+)?$`, 'i');
  return part.split(',').every((one) => item.test(one));
}

function parse(text: string, timezone: string): Cron | undefined {
  const parts = text.trim().split(/\s+/);
  const [, , dayOfMonth, , dayOfWeek] = parts;
  // croner has no 5/15, which is every 15 from 5 on.
  const ranges = parts.map((part, index) =>
    part.replace(/(?<=^|,)(\w+)\/(\d+)/g, `$1-${fields[index]?.to}/$2`),
  );
  try {
    return new Cron(ranges.join(' '), {
      mode: '5-part',
      timezone,
      // As cron has it: when both days are restricted, either matches.
      domAndDow: [dayOfMonth, dayOfWeek].some((part) => part?.startsWith('*')),
    });
  } catch {
    // Its messages name neither the field nor the values that are allowed.
    return undefined;
  }
}

/**
 * How long ago the line last matched, in milliseconds; undefined when it never did. A time that the change to summer
 * time skips counts as the end of the gap; one that occurs twice in autumn counts once.
 */
export function sinceLast(text: string, now: number, timeZone = 'UTC'): number | undefined {
  // Runs are whole seconds before the reference: one at `now` itself counts.
  const reference = new Date(now + 1000);
  const last = parse(text, timeZone)?.previousRuns(1, reference)[0];
  return last && now - last.getTime();
}

/** In how many milliseconds the line matches next; undefined when it never does. */
export function untilNext(text: string, now: number, timeZone = 'UTC'): number | undefined {
  const next = parse(text, timeZone)?.nextRun(new Date(now));
  return next ? next.getTime() - now : undefined;
}
