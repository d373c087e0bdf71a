import type { Store } from '../../shared/ports/store.ts';
import { readPressure } from '../state/pressure.ts';
import type { PressureView } from './shapes.ts';

/** Without the pods that cause it: readers of machines need not see them. */
export async function pressureNow(store: Store, now: number): Promise<PressureView[]> {
  const readings = await readPressure(store, now);
  return readings.map(({ node, category, level, sign, ratePerMinute }) => ({
    node,
    category,
    level,
    sign,
    ratePerMinute,
  }));
}
