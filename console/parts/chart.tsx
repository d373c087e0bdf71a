import { Component, createRef } from 'preact';
import uPlot from 'uplot';
import { moment } from '../format.ts';
import { now } from '../state/clock.ts';
import { colourOf, onColoursChange } from './colours.ts';

export interface Line {
  readonly label: string;
  /** A custom property of the style sheet, such as --good. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** `stacked` areas add up; `points` are single measurements. */
  readonly kind: 'lines' | 'stacked' | 'bars' | 'points';
  /** Milliseconds, ascending. */
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly from: number;
  readonly to: number;
  readonly format: (value: number) => string;
  /** Distances of grid lines; uPlot's own unless given. */
  readonly steps?: readonly number[];
  readonly max?: number;
}

interface State {
  /** Which sample the pointer is at. */
  readonly index?: number | undefined;
}

const height = 150;

/** A plot with axes and units; the legend shows the values under the pointer, otherwise the latest. */
export class Chart extends Component<ChartProps, State> {
  private readonly box = createRef<HTMLDivElement>();
  private plot: uPlot | undefined;
  private stop: (() => void) | undefined;

  override componentDidMount(): void {
    const box = this.box.current;
    if (!box) return;
    this.draw(box);
    const observer = new ResizeObserver(() => this.plot?.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    const forget = onColoursChange(() => this.draw(box));
    this.stop = () => {
      observer.disconnect();
      forget();
      this.plot?.destroy();
    };
  }

  override componentWillUnmount(): void {
    this.stop?.();
  }

  override componentDidUpdate(before: ChartProps): void {
    const box = this.box.current;
    if (!box || before === this.props) return;
    const drawnAnew = labelsOf(before) !== labelsOf(this.props) || before.kind !== this.props.kind;
    if (drawnAnew) this.draw(box);
    else if (before.at !== this.props.at || before.to !== this.props.to) this.show();
  }

  private draw(box: HTMLElement): void {
    this.plot?.destroy();
    this.plot = new uPlot(this.options(box.clientWidth), dataOf(this.props), box);
  }

  private show(): void {
    this.plot?.setData(dataOf(this.props), false);
    this.plot?.setScale('x', { min: this.props.from / 1_000, max: this.props.to / 1_000 });
    this.plot?.redraw();
  }

  private options(width: number): uPlot.Options {
    const { lines, kind, format, from, to, steps } = this.props;
    const quiet = colourOf('--quiet');
    const axis = { stroke: quiet, grid: { stroke: colourOf('--rule'), width: 1 }, ticks: { show: false } };
    const longest = () => Math.max(...[this.top(), this.top() / 2].map((value) => format(value).length));
    return {
      width,
      height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: { x: { min: from / 1_000, max: to / 1_000 }, y: { range: () => [0, this.top()] } },
      axes: [
        { ...axis, size: 28, space: 70, values: timeFormats },
        {
          ...axis,
          size: () => 14 + longest() * 7,
          space: 34,
          ...(steps && { incrs: [...steps] }),
          values: (_, splits) => splits.map(format),
        },
      ],
      series: [
        {},
        ...lines.map(
          ({ colour, label }, index): uPlot.Series => ({
            label,
            ...look[kind](colourOf(colour), index),
            spanGaps: false,
          }),
        ),
      ],
      bands: kind === 'stacked' ? lines.slice(1).map((_, at) => ({ series: [at + 1, at + 2] })) : [],
      hooks: {
        setCursor: [({ cursor: { idx } }) => this.setState({ index: idx ?? undefined })],
      },
    };
  }

  private top(): number {
    const { max, lines, kind, at } = this.props;
    if (max !== undefined) return max;
    const most =
      kind === 'stacked'
        ? Math.max(0, ...at.map((_, index) => sumAt(lines, index)))
        : Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
    return most > 0 ? most * 1.12 : 1;
  }

  override render({ title, lines, at, format, kind }: ChartProps, { index }: State) {
    const shown = index ?? at.length - 1;
    const time = at[shown];
    const read = (values: Line['values']): string => {
      // Of bars the sum is worth knowing, of everything else the latest.
      const sum = () => values.reduce<number>((total, value) => total + (value ?? 0), 0);
      const value = kind === 'bars' && index === undefined ? sum() : values[shown];
      return value === undefined || value === null ? '–' : format(value);
    };
    const says = lines.map(({ label, values }) => `${label} ${read(values)}`).join(', ');
    return (
      <figure class="chart">
        <figcaption>
          <b>{title}</b>
          <span class="quiet time">
            {time !== undefined && index !== undefined && moment(time, now.value)}
          </span>
        </figcaption>
        <div ref={this.box} class="plot" role="img" aria-label={`${title}: ${says}`} />
        {at.length < 2 && kind !== 'points' && <p class="quiet">The first points come within a minute.</p>}
        {at.length === 0 && kind === 'points' && <p class="quiet">None in this span.</p>}
        <ul class="keys">
          {lines.map(({ label, colour, values }) => (
            <li key={label}>
              <span class="key" style={{ background: `var(${colour})` }} aria-hidden="true" />
              {label} <b>{read(values)}</b>
            </li>
          ))}
        </ul>
      </figure>
    );
  }
}

/** Of counts: no grid line between whole numbers. */
export const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
export const timeSteps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600].map((s) => s * 1_000);

const timeFormats: NonNullable<uPlot.Axis['values']> = (_, splits, __, ___, step) =>
  splits.map((seconds) => (step >= 86_400 ? dayOf : step < 60 ? secondOf : minuteOf).format(seconds * 1_000));
const minuteOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const secondOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

const look: Readonly<Record<ChartProps['kind'], (colour: string, index: number) => uPlot.Series>> = {
  lines: (stroke) => ({ stroke, width: 2, points: { show: false } }),
  stacked: (stroke) => ({ stroke, width: 1, fill: faded(stroke), points: { show: false } }),
  bars: (stroke, index) => ({
    stroke,
    fill: faded(stroke),
    width: 1,
    points: { show: false },
    ...(uPlot.paths.bars && {
      paths: uPlot.paths.bars({ size: [0.42, 24], align: index === 0 ? -1 : 1 }),
    }),
  }),
  points: (stroke) => ({
    stroke,
    fill: stroke,
    paths: () => null,
    points: { show: true, size: 7, fill: stroke },
  }),
};

const faded = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.55)');

const labelsOf = ({ lines }: ChartProps): string => lines.map(({ label }) => label).join('\n');

const sumAt = (lines: readonly Line[], index: number): number =>
  lines.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);

/** Of stacked areas the first is drawn on top of all others. */
function dataOf({ at, lines, kind }: ChartProps): uPlot.AlignedData {
  const times = at.map((time) => time / 1_000);
  if (kind !== 'stacked') return [times, ...lines.map(({ values }) => [...values])];
  return [times, ...lines.map((_, from) => at.map((__, index) => sumAt(lines.slice(from), index)))];
}
