import type {
  V1Namespace,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1StorageClass,
} from '@kubernetes/client-node';
import { toNamespace, toNode, toPod } from '../../../shared/adapters/kubernetes/convert.ts';
import { toClaim, toStorageClass, toVolume } from '../../../shared/adapters/kubernetes/storage.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import { defaultSettings } from '../../../shared/core/settings.ts';
import { createWorld, fits, kindOf, misfit } from '../../../shared/core/simulate/simulated-cluster.ts';

/** A case as the API server gives it back, with its defaults filled in. */
export interface Served {
  readonly nodes: readonly V1Node[];
  readonly pods: readonly V1Pod[];
  readonly namespaces: readonly V1Namespace[];
  readonly volumes: readonly V1PersistentVolume[];
  readonly claims: readonly V1PersistentVolumeClaim[];
  readonly storageClasses: readonly V1StorageClass[];
  readonly judged: V1Pod;
  readonly target: string;
}

/** Why the pod cannot run on the target, as we see it; undefined when it can. */
export function judgeByEngine(served: Served): Reason | undefined {
  // As it was before the scheduler looked at it.
  const { nodeName: _, ...spec } = served.judged.spec ?? { containers: [] };
  const { status: __, ...rest } = served.judged;
  const pod = toPod({ ...rest, spec });
  const world = createWorld({
    machines: [],
    pools: [],
    settings: defaultSettings,
    cluster: {
      nodes: served.nodes.map(toNode),
      pods: [...served.pods.map((one) => toPod(one)), pod],
      namespaces: served.namespaces.map(toNamespace),
      volumes: served.volumes.map(toVolume),
      claims: served.claims.map(toClaim),
      storageClasses: served.storageClasses.map(toStorageClass),
    },
  });
  const place = world.byNode.get(served.target);
  if (!place) throw new Error(`${served.target} is not in the world`);
  const kind = kindOf(world, pod);
  const reason = misfit(world, kind, place);
  if (fits(world, kind, place) !== (reason === undefined))
    throw new Error(`fits and misfit differ on ${served.target}: ${reason?.code}`);
  return reason;
}
