import type { TrendView } from '../shared/view/shapes.ts';

type Values = readonly (number | null)[];

export const seriesNamed = ({ at, series }: Pick<TrendView, 'at' | 'series'>, name: string): Values =>
  series[name] ?? at.map(() => null);

const bars = 48;

/** Counters in bars of equal width, whatever the distance of samples. */
export function buckets(
  trend: Pick<TrendView, 'at' | 'from' | 'to' | 'series'>,
  names: readonly string[],
): { readonly at: readonly number[]; readonly sums: readonly (readonly number[])[] } {
  const { from, to, at: times } = trend;
  const width = Math.max(1, (to - from) / bars);
  const at = Array.from({ length: bars }, (_, index) => from + (index + 0.5) * width);
  const sums = names.map((name) => {
    const values = seriesNamed(trend, name);
    const sum = at.map(() => 0);
    for (const [index, time] of times.entries()) {
      const bar = Math.min(bars - 1, Math.max(0, Math.floor((time - from) / width)));
      sum[bar] = (sum[bar] ?? 0) + (values[index] ?? 0);
    }
    return sum;
  });
  return { at, sums };
}
