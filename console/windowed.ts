export interface Shown {
  readonly from: number;
  readonly to: number;
}

/** Which rows of a long list are worth drawing, with a few more on either side. */
export function shownRows(
  rows: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
  spare = 8,
): Shown {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - spare);
  const to = Math.min(rows, Math.ceil((scrollTop + viewHeight) / rowHeight) + spare);
  return { from: Math.min(from, to), to };
}
