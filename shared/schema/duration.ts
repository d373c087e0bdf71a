import { z } from 'zod';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

const howToWrite = 'not a duration: write "500ms", "90s", "15m", "1h30m" or "2d"';

/** What people write ("15m", "90s", "1h30m", "500ms") ↔ milliseconds. */
export const durationMs = z.codec(
  z.string({ error: howToWrite }).regex(/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)){1,5}$/, { error: howToWrite }),
  z.int().nonnegative(),
  {
    decode: (text) => {
      let ms = 0;
      for (const [, amount, unit] of text.matchAll(part))
        ms += Number(amount) * unitMs[unit as keyof typeof unitMs];
      return Math.round(ms);
    },
    encode: formatDuration,
  },
);

/** 5400000 → "1h30m"; exact, so that it can be read back. */
export function formatDuration(ms: number): string {
  if (ms < unitMs.s) return ms === 0 ? '0s' : `${ms}ms`;
  let text = '';
  let rest = ms;
  for (const unit of ['d', 'h', 'm'] as const) {
    const amount = Math.floor(rest / unitMs[unit]);
    if (amount > 0) text += `${amount}${unit}`;
    rest %= unitMs[unit];
  }
  return rest > 0 ? `${text}${rest / unitMs.s}s` : text;
}
