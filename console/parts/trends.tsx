import type { TrendView } from '../../shared/view/shapes.ts';
import { duration, watts } from '../format.ts';
import { stateOrder } from '../racks.ts';
import { range } from '../state/range.ts';
import { useApi } from '../state/resource.ts';
import { buckets, seriesNamed } from '../trend.ts';
import { Chart, type Line, timeSteps, wholeSteps } from './chart.tsx';
import { Loaded } from './loaded.tsx';

const whole = (value: number): string => String(Math.round(value * 10) / 10);
const share = (value: number): string => `${Math.round(value)} %`;

const useTrend = () => useApi<TrendView>(`/api/trend?range=${range.value}`);

/** One plot of the history that the host keeps. */
export function Trend({ of }: { readonly of: keyof typeof plots }) {
  const trend = useTrend();
  return <Loaded of={trend}>{(data) => plots[of](data)}</Loaded>;
}

const plots = {
  states: (trend: TrendView) => (
    <Chart
      title="Machines by state"
      kind="stacked"
      {...spanOf(trend)}
      steps={wholeSteps}
      format={whole}
      lines={stateOrder
        .map(
          (state): Line => ({
            label: state,
            colour: `--of-${state}`,
            values: seriesNamed(trend, `state/${state}`),
          }),
        )
        .filter(({ values }) => values.some((value) => value !== null && value > 0))}
    />
  ),
  waiting: (trend: TrendView) => (
    <Chart
      title="Pods waiting"
      kind="lines"
      {...spanOf(trend)}
      steps={wholeSteps}
      format={whole}
      lines={[{ label: 'pods', colour: '--warn', values: seriesNamed(trend, 'pods/waiting') }]}
    />
  ),
  used: (trend: TrendView) => (
    <Chart
      title="Utilization by pool (requested of cpu or memory, the scarcer)"
      kind="lines"
      {...spanOf(trend)}
      format={share}
      max={105}
      lines={Object.entries(trend.series)
        .filter(([name]) => name.startsWith('used/'))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, values], index) => ({
          label: name.slice('used/'.length),
          colour: `--series-${(index % 8) + 1}`,
          values,
        }))}
    />
  ),
  watts: (trend: TrendView) => (
    <Chart
      title="Power"
      kind="lines"
      {...spanOf(trend)}
      format={watts}
      lines={[
        { label: 'if all machines were on', colour: '--good', values: seriesNamed(trend, 'watts/all-on') },
        { label: 'drawn', colour: '--accent', values: seriesNamed(trend, 'watts/now') },
      ]}
    />
  ),
  begun: (trend: TrendView) => {
    const { at, sums } = buckets(trend, ['begun/power-on', 'begun/drain']);
    return (
      <Chart
        title="Power-ons and drains begun"
        kind="bars"
        at={at}
        from={trend.from}
        to={trend.to}
        steps={wholeSteps}
        format={whole}
        lines={[
          { label: 'power-ons', colour: '--good', values: sums[0] ?? [] },
          { label: 'drains', colour: '--leaving', values: sums[1] ?? [] },
        ]}
      />
    );
  },
};

const spanOf = ({ at, from, to }: TrendView) => ({ at, from, to });

/** Boot times: of all machines, or of one. */
export function Boots({ machine }: { readonly machine?: string }) {
  const trend = useTrend();
  return (
    <Loaded of={trend}>
      {({ boots, from, to }) => {
        const shown = boots.filter((boot) => machine === undefined || boot.machine === machine);
        return (
          <Chart
            title="Boot times (power-on to Ready)"
            kind="points"
            at={shown.map(({ at }) => at)}
            from={from}
            to={to}
            steps={timeSteps}
            format={duration}
            lines={[{ label: 'boots', colour: '--warn', values: shown.map(({ ms }) => ms) }]}
          />
        );
      }}
    </Loaded>
  );
}
