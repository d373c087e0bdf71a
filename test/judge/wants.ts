import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Case } from './case.ts';
import type { Finding } from './finding.ts';

/** A pool has its minimum and its headroom, or no machine could give more of it. */
export function judgeWants({ snapshot, board, spare, limits, chosen, decision }: Case): Finding[] {
  const reopened = new Set(
    decision.intents.filter(({ kind }) => kind === 'cancel-drain').map(({ machine }) => machine),
  );
  return snapshot.pools.flatMap((pool): Finding[] => {
    if (pool.managedBy !== 'bamel') return [];
    const possible = spare.filter(
      ({ spec }) => spec.pool === pool.name && limits.refusals(spec).length === 0,
    );
    const findings: Finding[] = [];
    const members = [
      ...snapshot.machines.filter(
        (one) => ['coming', 'serving'].includes(capacityOf(one)) || reopened.has(one.spec.name),
      ),
      ...chosen,
    ].filter(({ spec }) => spec.pool === pool.name);
    const [another] = possible;
    if (members.length < pool.limits.minNodes && another)
      findings.push({
        code: 'minimum-short',
        machine: another.spec.name,
        text: `pool ${pool.name} has ${members.length} of ${pool.limits.minNodes}`,
      });
    const open = [...board.spots.values()].filter(
      ({ facts, shut }) => !shut && facts.machine?.spec.pool === pool.name,
    );
    for (const [name, wanted] of Object.entries(pool.headroom)) {
      const column = board.book.columns.get(name);
      const freeOf = (spot: (typeof open)[number]): number =>
        column === undefined ? (spot.facts.allocatable[name] ?? 0) : (spot.free[column] as number);
      const free = open.reduce((total, spot) => total + Math.max(0, freeOf(spot)), 0);
      const helper = possible.find(({ spec }) => (spec.resources[name] ?? 0) > 0);
      if (free < wanted && helper)
        findings.push({
          code: 'headroom-short',
          machine: helper.spec.name,
          text: `pool ${pool.name} has ${free} of ${wanted} ${name} free`,
        });
    }
    return findings;
  });
}
