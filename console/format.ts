const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export const amount = (value: number): string => number.format(value);

export const watts = (value: number | undefined): string =>
  value === undefined ? '–' : value >= 10_000 ? `${amount(value / 1_000)} kW` : `${Math.round(value)} W`;

export function energy(kWh: number): string {
  if (Math.abs(kWh) >= 1) return `${amount(kWh)} kWh`;
  return `${amount(kWh * 1_000)} Wh`;
}

/** Cents and up; a demo saves less than that. */
export const money = (value: number): string => value.toFixed(Math.abs(value) < 0.1 ? 4 : 2);

/** Of an hour; without a sign, since the currency is not configured. */
export const hourly = (value: number): string => `${money(value)} an hour`;

/** How long, in the two largest units that say something: 3 min 20 s. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** The time of day, and the day as well when it is another one. */
export function moment(at: number, now: number): string {
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString();
  return sameDay ? clock.format(at) : `${day.format(at)} ${clock.format(at)}`;
}

const gibi = 2 ** 30;

/** What pods ask for, or machines have, in the units that people write. */
function resource(name: string, value: number): string {
  if (name === 'cpu') return `${amount(value / 1_000)} cpu`;
  if (name === 'memory' || name.endsWith('storage')) return `${amount(value / gibi)} Gi ${name}`;
  return `${amount(value)} ${name}`;
}

export const resources = (amounts: Readonly<Record<string, number>>): string =>
  Object.entries(amounts)
    .filter(([, value]) => value > 0)
    // An amount and its name stay on one line.
    .map(([name, value]) => resource(name, value).replaceAll(' ', '\u00a0'))
    .join(' · ') || 'nothing';

/** So much of so much, where the name stands beside it. */
export function part(name: string, used: number, has: number): string {
  if (name === 'cpu') return `${amount(used / 1_000)} of ${amount(has / 1_000)}`;
  if (name === 'memory' || name.endsWith('storage'))
    return `${amount(used / gibi)} of ${amount(has / gibi)} Gi`;
  return `${amount(used)} of ${amount(has)}`;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const count = (items: number, one: string, many = `${one}s`): string =>
  `${number.format(items)} ${items === 1 ? one : many}`;
