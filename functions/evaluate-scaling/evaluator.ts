import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { decide } from '../../shared/core/decide/decide.ts';
import type { Decision } from '../../shared/core/decide/decision.ts';
import { alertReadings, noteAlerts } from '../../shared/core/decide/signals/alert-book.ts';
import { type Alert, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import { needsOf } from '../../shared/core/forecast/needs.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { readAlerts } from '../../shared/state/alerts.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { createNeedRecorder } from '../../shared/state/need-history.ts';
import { readOffers } from '../../shared/state/offers.ts';
import { readPressure } from '../../shared/state/pressure.ts';
import { readProviders } from '../../shared/state/providers.ts';
import type { Deps } from '../deps.ts';
import { createForecasts } from './forecasts.ts';
import { createTriggers, type ReadTriggers } from './triggers.ts';

/** Reads a snapshot and decides. `added`: alerts to decide with as if they had just been received. */
export type Evaluator = (added?: readonly Alert[]) => Promise<{
  readonly decision: Decision;
  readonly records: readonly MachineRecord[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
  readonly triggers: ReadTriggers;
  /** Adds what each pool needs now to its history. */
  readonly saveNeeds: (lease: Lease) => Promise<void>;
}>;

export function createEvaluator(deps: Deps): Evaluator {
  const { inventory, clock, ownNode } = deps;
  const readTriggers = createTriggers(deps);
  const recordNeeds = createNeedRecorder(inventory.store);
  const readForecasts = createForecasts(inventory.store);
  return async (added = []) => {
    const [machines, pools, settings, cluster, book, pressure, offers, providers] = await Promise.all([
      inventory.machines(),
      inventory.pools(),
      inventory.settings(),
      deps.cluster.view(),
      readAlerts(inventory.store),
      readPressure(inventory.store, clock.now()),
      readOffers(inventory.store),
      readProviders(inventory.store),
    ]);
    const triggers = await readTriggers(pools);
    const now = clock.now();
    const forecasts = await readForecasts(pools, machines, settings, now);
    const poolOf = (alert: Alert) => steeringOf(alert, pools, machines).pool;
    const alerts = alertReadings(noteAlerts(book, added, poolOf, now).book, now);
    const snapshot = {
      machines,
      pools,
      settings,
      cluster,
      ownNode,
      alerts,
      triggers: triggers.readings,
      pressure,
      offers,
      providers,
      forecasts,
    };
    const decision = decide(snapshot, now);
    const saveNeeds = (lease: Lease): Promise<void> =>
      recordNeeds(needsOf(snapshot, decision.assignments()), lease, now);
    return { decision, records: machines, settings, cluster, triggers, saveNeeds };
  };
}
