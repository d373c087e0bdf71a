import type { HostPort } from '../../shared/core/cluster/cluster.ts';
import type { Board, Spot } from './board.ts';
import type { Shape } from './book.ts';
import { untolerated } from './facts/labels.ts';
import { countOf, fewest } from './facts/tally.ts';
import { volumesAllow } from './facts/volumes.ts';
import type { Rule } from './rule.ts';

const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/** What does not depend on the pods that are on the node. */
export function staticMisfit(board: Board, shape: Shape, spot: Spot): Rule | undefined {
  let row = board.known[shape.manners];
  if (!row) {
    row = [];
    board.known[shape.manners] = row;
  }
  let found = row[spot.classId];
  if (found === undefined) {
    found = staticRules.find(([, forbids]) => forbids(board, shape, spot))?.[0] ?? 'fits';
    row[spot.classId] = found;
  }
  return found === 'fits' ? undefined : found;
}

const staticRules: readonly (readonly [Rule, (board: Board, shape: Shape, spot: Spot) => boolean])[] = [
  ['impossible', (_board, { impossible }) => impossible],
  ['labels', (board, { where }, spot) => !board.whereHolds(where, spot)],
  ['taints', (board, { tolerance }, spot) => !board.tolerates(tolerance, spot)],
  [
    'cordon',
    (_board, { example }, { facts }) =>
      facts.cordoned && untolerated([cordon], example.tolerations) !== undefined,
  ],
  [
    'volumes',
    ({ book }, { volumes }, { facts }) =>
      volumes !== undefined &&
      book.storage !== undefined &&
      !volumesAllow(volumes, book.storage, facts.labels, facts.name),
  ],
];

export function hasRoom({ columns, amounts }: Shape, free: Float64Array): boolean {
  for (let i = 0; i < columns.length; i += 1)
    if ((free[columns[i] as number] as number) < (amounts[i] as number)) return false;
  return true;
}

/** What depends on other pods: each rule, and whether it keeps the pod away. */
const socialRules: readonly (readonly [Rule, (board: Board, shape: Shape, spot: Spot) => boolean])[] = [
  [
    'ports',
    (_board, { ports }, spot) => ports.some((port) => spot.ports.some((taken) => clash(port, taken))),
  ],
  [
    'claim',
    ({ claims }, { volumes }) => volumes?.exclusive.some((claim) => (claims.get(claim) ?? 0) > 0) === true,
  ],
  [
    'anti-affinity',
    (_board, { blockers }, { domains }) =>
      blockers.some((tally) => {
        const domain = domains[tally.key] as number;
        return domain >= 0 && countOf(tally, domain) > 0;
      }),
  ],
  [
    'affinity',
    (_board, { affinity }, { domains }) => affinity !== undefined && !hasCompany(affinity, domains),
  ],
  [
    'spread',
    (_board, { spread }, { domains }) =>
      spread.some(({ group, maxSkew, minDomains, self }) => {
        const domain = domains[group.eligibility.key] as number;
        const skew = (group.counts.get(domain) ?? 0) + self - fewest(group, minDomains);
        return domain < 0 || skew > maxSkew;
      }),
  ],
];

function socialMisfit(board: Board, shape: Shape, spot: Spot): Rule | undefined {
  if (shape.plain) return undefined;
  for (const [rule, forbids] of socialRules) if (forbids(board, shape, spot)) return rule;
  return undefined;
}

/** Every rule but room that keeps the pod from a node on the board. */
export function misfits(board: Board, shape: Shape, spot: Spot): ReadonlySet<Rule> {
  const found = new Set(
    socialRules.filter(([, forbids]) => forbids(board, shape, spot)).map(([rule]) => rule),
  );
  for (const [rule, forbids] of staticRules) if (forbids(board, shape, spot)) found.add(rule);
  return found;
}

/** Every term finds a pod in its domain; or the pod is the first of a group that selects itself. */
function hasCompany({ tallies, self }: NonNullable<Shape['affinity']>, domains: Int32Array): boolean {
  if (tallies.some(({ key }) => (domains[key] as number) < 0)) return false;
  if (tallies.every((tally) => countOf(tally, domains[tally.key] as number) > 0)) return true;
  return self && tallies.every(({ total }) => total === 0);
}

const anywhere = '0.0.0.0';

const clash = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anywhere || b.ip === anywhere);

/** The first rule that keeps the pod from a node on the board, or nothing. */
export function misfit(board: Board, shape: Shape, spot: Spot): Rule | undefined {
  if (spot.shut) return 'shut';
  if (!hasRoom(shape, spot.free)) return staticMisfit(board, shape, spot) ?? 'resources';
  return staticMisfit(board, shape, spot) ?? socialMisfit(board, shape, spot);
}
