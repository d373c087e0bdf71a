import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { createCase, type Judged } from './case.ts';
import { judgeCounts } from './counts.ts';
import { judgeDrains } from './drains.ts';
import type { Finding } from './finding.ts';
import { judgeLeftovers, leftoversOf } from './maximal.ts';
import { judgeNeed } from './needed.ts';
import { judgeReasons } from './reasons.ts';
import { createSpares } from './spares.ts';
import { judgePlaces } from './valid.ts';
import { judgeWants } from './wants.ts';

/**
 * Everything that is wrong with a decision, as far as Kubernetes' documented rules and the configured limits tell.
 * Shares no code with what decides. Machines made on demand and slices of remote clusters are not judged.
 */
export function judge(snapshot: Snapshot, now: number, decision: Judged): Finding[] {
  const given = createCase(snapshot, now, decision);
  const places = judgePlaces(given);
  const spares = createSpares(given);
  const leftovers = leftoversOf(given);
  return [
    ...given.findings,
    ...places,
    ...judgeLeftovers(given, spares, leftovers),
    ...judgeReasons(given, spares, leftovers),
    ...judgeCounts(given),
    ...judgeWants(given),
    ...judgeNeed(given),
    ...judgeDrains(given),
  ];
}
