import { moment, watts } from '../format.ts';

interface Point {
  readonly at: number;
  readonly watts: number;
  readonly allOn: number;
}

const width = 800;
const height = 220;

/** Watts over time; the space between the two lines is what was saved. */
export function Plot({ points, now }: { readonly points: readonly Point[]; readonly now: number }) {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || points.length < 2) return <p class="quiet">the first points come within a minute</p>;
  const most = Math.max(1, ...points.map(({ allOn, watts: drawn }) => Math.max(allOn, drawn)));
  const x = (at: number) => ((at - first.at) / Math.max(1, last.at - first.at)) * width;
  const y = (value: number) => height - (value / most) * (height - 10);
  const line = (of: (point: Point) => number) =>
    points.map((point) => `${x(point.at).toFixed(1)},${y(of(point)).toFixed(1)}`);
  const drawn = line((point) => point.watts);
  const allOn = line((point) => point.allOn);
  const says = `Now ${watts(last.watts)} of ${watts(last.allOn)} if everything were on.`;
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={says}>
        <polygon class="saved" points={[...allOn, ...drawn.toReversed()].join(' ')} />
        <polygon class="drawn" points={[`0,${height}`, ...drawn, `${width},${height}`].join(' ')} />
        <polyline class="all-on" points={allOn.join(' ')} />
        <polyline class="now" points={drawn.join(' ')} />
      </svg>
      <figcaption>
        <span class="ends">
          <span>{moment(first.at, now)}</span>
          <span>{moment(last.at, now)}</span>
        </span>
        <span class="key drawn">drawn</span>
        <span class="key saved">saved against everything on ({watts(most)} at most)</span>
      </figcaption>
    </figure>
  );
}
