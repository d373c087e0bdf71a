import type { EnergyView } from '../../shared/view/shapes.ts';
import { energy, money, percent, watts } from '../format.ts';
import { At } from '../parts/ago.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Meter } from '../parts/meter.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Trend } from '../parts/trends.tsx';
import { useApi } from '../state/resource.ts';
import type { Pools } from '../types.ts';

export function EnergyPage() {
  const account = useApi<EnergyView>('/api/energy');
  return (
    <>
      <div class="head">
        <h1>Energy</h1>
        <RangePicker />
      </div>
      <Loaded of={account}>{(data) => <Account account={data} />}</Loaded>
      <div class="charts tall">
        <Trend of="watts" />
        <Trend of="states" />
      </div>
      <ByPool />
    </>
  );
}

function Account({ account }: { readonly account: EnergyView }) {
  const { wattsNow, wattsIfAllOn, kWhUsed, kWhSaved, moneySaved, since } = account;
  return (
    <dl class="numbers large">
      <div>
        <dt>drawn now</dt>
        <dd>{watts(wattsNow)}</dd>
      </div>
      <div>
        <dt>if all machines were on</dt>
        <dd>{watts(wattsIfAllOn)}</dd>
      </div>
      <div>
        <dt>saved now</dt>
        <dd>{wattsIfAllOn > 0 ? percent(1 - wattsNow / wattsIfAllOn) : '–'}</dd>
      </div>
      <div>
        <dt>
          used{since !== undefined && ' since '}
          {since !== undefined && <At time={since} />}
        </dt>
        <dd>{energy(kWhUsed)}</dd>
      </div>
      <div>
        <dt>saved{since !== undefined && ' in that time'}</dt>
        <dd>{energy(kWhSaved)}</dd>
      </div>
      <div>
        <dt>in money</dt>
        <dd>{moneySaved === undefined ? <small>set BAMEL_KWH_PRICE</small> : money(moneySaved)}</dd>
      </div>
    </dl>
  );
}

function ByPool() {
  const pools = useApi<Pools>('/api/pools').data.value?.items ?? [];
  return (
    <section class="card">
      <h2>By pool</h2>
      {pools.map(({ name, watts: { now: drawn, max } }) => (
        <Meter key={name} label={name} value={drawn} max={max} text={`${watts(drawn)} of ${watts(max)}`} />
      ))}
      {pools.length === 0 && <p class="quiet">There are no pools.</p>}
    </section>
  );
}
