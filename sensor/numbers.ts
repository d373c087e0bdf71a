/** Total microseconds that some or all (`full`) tasks waited. */
export interface Stall {
  readonly some: number;
  readonly full: number;
}

/** A file of pressure stall information. Only totals are read: the averages are late, up and down. */
export function parseStall(text: string): Stall | undefined {
  const some = numberAfter(text, 'total=', 0);
  if (some === undefined) return undefined;
  // The node's cpu file has a line `full` since 5.13, and it is always zero.
  const second = text.indexOf('full');
  return { some, full: (second < 0 ? undefined : numberAfter(text, 'total=', second)) ?? 0 };
}

/** `name 123` on a line of its own, as in cpu.stat and memory.events. */
export function numberOf(text: string, name: string): number | undefined {
  const at = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `);
  return at < 0 ? undefined : numberAfter(text, ' ', at);
}

function numberAfter(text: string, marker: string, from: number): number | undefined {
  const at = text.indexOf(marker, from);
  if (at < 0) return undefined;
  const value = Number.parseInt(text.slice(at + marker.length, at + marker.length + 20), 10);
  return Number.isNaN(value) ? undefined : value;
}

/** The first line of /proc/stat: ticks in all, and those in which a cpu did something. */
export function parseCpuTimes(text: string): { readonly busy: number; readonly all: number } | undefined {
  const end = text.indexOf('\n');
  const [name, ...ticks] = text.slice(0, end).trim().split(/\s+/);
  if (name !== 'cpu') return undefined;
  // user nice system idle iowait irq softirq steal; guest is part of user.
  const times = ticks.slice(0, 8).map(Number);
  const all = times.reduce((sum, time) => sum + time, 0);
  return { all, busy: all - (times[3] ?? 0) - (times[4] ?? 0) };
}

/** Bytes in and out of /proc/<pid>/net/dev, without loopback. */
export function parseNetDev(text: string): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon < 0 || line.slice(0, colon).trim() === 'lo') continue;
    const fields = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    sum += Number(fields[0] ?? 0) + Number(fields[8] ?? 0);
  }
  return sum;
}
