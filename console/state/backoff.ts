const shortestMs = 500;
const longestMs = 15_000;

/** How long to wait after so many failures in a row. Spread, so that many consoles do not come back all at once. */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const most = Math.min(longestMs, shortestMs * 2 ** Math.max(0, failures - 1));
  return Math.round(most * (0.5 + random() / 2));
}
