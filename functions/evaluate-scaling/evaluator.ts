import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { decide } from '../../shared/core/decide/decide.ts';
import type { Decision } from '../../shared/core/decide/decision.ts';
import { alertReadings, noteAlerts } from '../../shared/core/decide/signals/alert-book.ts';
import { type Alert, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { readAlerts } from '../../shared/state/alerts.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { readOffers } from '../../shared/state/offers.ts';
import { readPressure } from '../../shared/state/pressure.ts';
import type { Deps } from '../deps.ts';
import { createTriggers, type ReadTriggers } from './triggers.ts';

/** Reads a snapshot and decides. `added`: alerts to decide with as if they had just been received. */
export type Evaluator = (added?: readonly Alert[]) => Promise<{
  readonly decision: Decision;
  readonly records: readonly MachineRecord[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
  readonly triggers: ReadTriggers;
}>;

export function createEvaluator(deps: Deps): Evaluator {
  const { inventory, clock, ownNode } = deps;
  const readTriggers = createTriggers(deps);
  return async (added = []) => {
    const [machines, pools, settings, cluster, book, pressure, offers] = await Promise.all([
      inventory.machines(),
      inventory.pools(),
      inventory.settings(),
      deps.cluster.view(),
      readAlerts(inventory.store),
      readPressure(inventory.store, clock.now()),
      readOffers(inventory.store),
    ]);
    const triggers = await readTriggers(pools);
    const now = clock.now();
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
    };
    return { decision: decide(snapshot, now), records: machines, settings, cluster, triggers };
  };
}
