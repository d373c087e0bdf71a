import type { Report } from './report.ts';

const size = { width: 960, height: 320, left: 48, bottom: 28, top: 24 };
const colours = ['#1f77b4', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b', '#17becf', '#7f7f7f', '#bcbd22'];
/** More points than pixels show nothing more. */
const mostPoints = 960;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '');

/** Machines on over time for every policy that has a trace, what was needed as a grey area. */
export function svgOf(report: Report): string {
  const { width, height, left, bottom, top } = size;
  const needs = report.needs ?? [];
  const per = Math.max(1, Math.ceil(needs.length / mostPoints));
  const most = Math.max(1, report.machines);
  const x = (step: number): number => left + ((width - left - 8) * step) / Math.max(1, needs.length - 1);
  const y = (count: number): number => height - bottom - ((height - bottom - top) * count) / most;
  const points = (values: readonly number[]): string =>
    values
      .flatMap((_, step) => {
        if (step % per !== 0) return [];
        const highest = Math.max(...values.slice(step, step + per));
        return [`${x(step).toFixed(1)},${y(highest).toFixed(1)}`];
      })
      .join(' ');
  const shown = report.rows.filter(({ on, policy }) => on && policy !== 'everything on');
  const area = `<polygon points="${left},${y(0)} ${points(needs)} ${x(needs.length - 1).toFixed(1)},${y(0)}" fill="#ddd"/>`;
  const lines = shown.map(
    ({ on = [] }, index) =>
      `<polyline points="${points(on)}" fill="none" stroke="${colours[index % colours.length]}" stroke-width="1"/>`,
  );
  const legend = shown.map(
    ({ policy, settings }, index) =>
      `<text x="${left + 8}" y="${height + 16 + 16 * index}" fill="${colours[index % colours.length]}">${escaped(`${policy} (${settings})`)}</text>`,
  );
  const ticks = [0, Math.round(most / 2), most].map(
    (count) =>
      `<text x="${left - 6}" y="${y(count) + 4}" text-anchor="end">${count}</text><line x1="${left}" x2="${width - 8}" y1="${y(count)}" y2="${y(count)}" stroke="#eee"/>`,
  );
  const total = height + 24 + 16 * shown.length;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(`Machines on over time: ${report.source}`)}">`,
    `<rect width="${width}" height="${total}" fill="#fff"/>`,
    `<text x="${left}" y="14">${escaped(`Machines on (grey: needed), ${report.from.slice(0, 16)} to ${report.until.slice(0, 16)} UTC`)}</text>`,
    ...ticks,
    area,
    ...lines,
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}

/** The picture and the table on one page that needs nothing else. */
export const htmlOf = (report: Report, table: string): string =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(`Replay of ${report.source}`)}</title></head>\n<body>\n${svgOf(report)}<pre>${escaped(table)}</pre>\n</body></html>\n`;
