import type { Node } from '../../shared/core/cluster/cluster.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import { outOfService } from '../../shared/core/cluster/prepare-node.ts';
import { lifecycle } from '../../shared/core/machine/lifecycle.ts';
import { plural, seconds } from '../../shared/core/text.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { saveObservation } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import type { WatchContext } from './watch-context.ts';

/**
 * The machine is proven off, and the node is from its last boot: its pods do not run anywhere. A node with
 * another boot ID has come back meanwhile, and a kubelet whose Node is deleted does not register again by
 * itself.
 */
function isOff({ spec, status }: MachineRecord, node: Node): boolean {
  // A remote slice is off only after its Node is gone: while the Node exists, its pods may still run at the
  // provider.
  if (spec.offer !== undefined) return false;
  const provenOff =
    status.powerState === 'off' &&
    !status.powerInferred &&
    lifecycle[status.state].on['power-on-requested'] !== undefined;
  return provenOff && node.bootID === status.bootID;
}

/** Removes the pods and the Node of a machine that is off. Undefined: nothing to remove. */
export async function cleanUpNode(
  context: WatchContext,
  record: MachineRecord,
  node: Node,
): Promise<string | undefined> {
  if (!isOff(record, node)) return undefined;
  const drained = node.annotations[bamelKeys.cordonedBy] !== undefined;
  if (!drained && node.ready) return undefined;
  const pods = context.view.pods.filter((pod) => pod.node === node.name && pod.terminating);
  if (!drained && pods.length === 0) return undefined;
  const { deps, settings } = context;
  // Read before the pods are deleted: their volumes are the ones that stay attached.
  const volumes = (await deps.cluster.volumesOn(node.name)) ?? [];
  if (volumes.length > 0) await markOutOfService(deps, record, node, volumes);
  for (const pod of pods)
    if (await deps.cluster.forceDelete(pod))
      deps.log.info(
        { step: 'join', machine: record.spec.name, node: node.name, pod: `${pod.namespace}/${pod.name}` },
        'pod of a machine that is off removed',
      );
  if (!drained) return 'pods of a machine that is off removed';
  const offForMs = deps.clock.now() - record.since;
  if (volumes.length > 0 && offForMs < settings.timings.volumeTimeoutMs)
    return 'its volumes are being detached';
  if (volumes.length > 0)
    deps.log.warn(
      {
        step: 'join',
        machine: record.spec.name,
        volumes,
        text: `${volumes.length} ${plural(volumes.length, 'volume')} still attached ${seconds(offForMs)} after it was off: its Node object is removed all the same`,
      },
      'volumes are still attached',
    );
  return removeNode(deps, record, node);
}

/**
 * Without the taint, volumes stay attached to a node that is off for minutes, and pods that need them wait.
 */
async function markOutOfService(
  { cluster, log }: Deps,
  { spec }: MachineRecord,
  node: Node,
  volumes: readonly string[],
): Promise<void> {
  if (node.ready || node.taints.some(({ key }) => key === outOfService.key)) return;
  await cluster.changeNode(node.name, { taints: [outOfService] });
  log.info(
    {
      step: 'join',
      machine: spec.name,
      node: node.name,
      volumes,
      text: 'is off: its volumes are detached',
    },
    'node declared out of service',
  );
}

async function removeNode(deps: Deps, record: MachineRecord, { name }: Node): Promise<string> {
  if (await deps.cluster.deleteNode(name))
    deps.log.info(
      { step: 'join', machine: record.spec.name, node: name, text: 'is off: its Node object is removed' },
      'stale node removed',
    );
  await saveObservation(deps.inventory, record, { kubernetesNode: undefined, nodeReady: undefined });
  return 'stale node removed';
}
