import type { EnergyView } from '../../shared/view/shapes.ts';
import { energy, money, percent, watts } from '../format.ts';
import { At } from '../parts/ago.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Meter } from '../parts/meter.tsx';
import { Plot } from '../parts/plot.tsx';
import { now } from '../state/clock.ts';
import { useApi } from '../state/resource.ts';
import type { Pools } from '../types.ts';

export function EnergyPage() {
  const account = useApi<EnergyView>('/api/energy');
  return (
    <>
      <h1>Energy</h1>
      <Loaded of={account}>{(data) => <Account account={data} />}</Loaded>
      <ByPool />
    </>
  );
}

function Account({ account }: { readonly account: EnergyView }) {
  const { wattsNow, wattsIfAllOn, kWhSaved, moneySaved, since, series } = account;
  return (
    <>
      <dl class="numbers large">
        <div>
          <dt>drawn now</dt>
          <dd>{watts(wattsNow)}</dd>
        </div>
        <div>
          <dt>if everything were on</dt>
          <dd>{watts(wattsIfAllOn)}</dd>
        </div>
        <div>
          <dt>saved now</dt>
          <dd>{wattsIfAllOn > 0 ? percent(1 - wattsNow / wattsIfAllOn) : '–'}</dd>
        </div>
        <div>
          <dt>
            saved{since !== undefined && ' since '}
            {since !== undefined && <At time={since} />}
          </dt>
          <dd>{energy(kWhSaved)}</dd>
        </div>
        <div>
          <dt>in money</dt>
          <dd title={moneySaved === undefined ? 'set BAMEL_KWH_PRICE to see it' : ''}>
            {moneySaved === undefined ? 'no price set' : money(moneySaved)}
          </dd>
        </div>
      </dl>
      <Plot points={series} now={now.value} />
    </>
  );
}

function ByPool() {
  const pools = useApi<Pools>('/api/pools').data.value?.items ?? [];
  return (
    <section>
      <h2>By pool</h2>
      {pools.map(({ name, watts: { now: drawn, max } }) => (
        <Meter key={name} label={name} value={drawn} max={max} text={`${watts(drawn)} of ${watts(max)}`} />
      ))}
    </section>
  );
}
