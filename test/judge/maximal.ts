import type { Pod } from '../../shared/core/cluster/cluster.ts';
import { podName } from '../../shared/core/decide/snapshot.ts';
import type { Spot } from './board.ts';
import type { Shape } from './book.ts';
import type { Case } from './case.ts';
import { mayAsk } from './eligible.ts';
import type { Finding } from './finding.ts';
import { hasRoom, misfit } from './fit.ts';
import type { SpareKind, Spares } from './spares.ts';

/** Pods of one shape that nobody serves, and the pools that they may ask for machines. */
export interface Leftover {
  readonly shape: Shape;
  readonly pods: readonly Pod[];
  readonly pools: ReadonlySet<string>;
}

export function leftoversOf({ left, book, snapshot, now }: Case): Leftover[] {
  const groups = new Map<string, { shape: Shape; pods: Pod[]; pools: ReadonlySet<string> }>();
  for (const pod of left) {
    const shape = book.shapeOf(pod);
    const pools = snapshot.pools.filter((pool) => mayAsk(pod, pool, snapshot, now)).map(({ name }) => name);
    const key = `${shape.id} ${pools.join()}`;
    const group = groups.get(key) ?? { shape, pods: [], pools: new Set(pools) };
    groups.set(key, group);
    group.pods.push(pod);
  }
  return [...groups.values()];
}

/** Whether one pod of the leftover could be served by powering on a machine of the kind. */
export const wouldServe = ({ shape, pools }: Leftover, kind: SpareKind, spares: Spares): boolean =>
  !kind.refused && pools.has(kind.example.spec.pool) && spares.fits(shape, kind);

/** No pod is left over that an open node, or a machine that may be powered on, could run. */
export function judgeLeftovers({ board }: Case, spares: Spares, leftovers: readonly Leftover[]): Finding[] {
  const open = [...board.spots.values()].filter(({ shut }) => !shut);
  const free = spares.kinds.filter(({ refused }) => !refused);
  return leftovers.flatMap((leftover): Finding[] => {
    const { shape, pods } = leftover;
    const pod = podName(pods[0] ?? shape.example);
    const roomy = open.find(
      (spot: Spot) => hasRoom(shape, spot.free) && misfit(board, shape, spot) === undefined,
    );
    if (roomy)
      return [
        {
          code: 'unserved-room',
          pod,
          machine: roomy.facts.name,
          text: `${pods.length} pods such as ${pod} are left over, ${roomy.facts.name} has room for one`,
        },
      ];
    const kind = free.find((one) => wouldServe(leftover, one, spares));
    if (!kind) return [];
    const machine = kind.example.spec.name;
    return [
      {
        code: 'unserved-machine',
        pod,
        machine,
        text: `${pods.length} pods such as ${pod} are left over, ${machine} is off and could run one`,
      },
    ];
  });
}
