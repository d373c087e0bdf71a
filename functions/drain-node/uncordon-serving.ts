import type { Node } from '../../shared/core/cluster/cluster.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';
import { recordNodeEvent } from './drain-context.ts';
import { uncordon } from './finish.ts';

/** Serving machines whose node is still cordoned by us: their drain was cancelled because demand returned. */
export function stillCordoned(
  records: readonly MachineRecord[],
  nodes: readonly Node[],
): { readonly record: MachineRecord; readonly node: Node }[] {
  const cordoned = new Map(
    nodes
      .filter(({ annotations }) => annotations[bamelKeys.cordonedBy] !== undefined)
      .map((node) => [node.name, node]),
  );
  return records.flatMap((record) => {
    const node = cordoned.get(record.status.kubernetesNode ?? '');
    return node && isServing(record) ? [{ record, node }] : [];
  });
}

const isServing = (record: MachineRecord): boolean =>
  capacityOf(record) === 'serving' && !record.status.operation;

/** The instance that drains it notices within this time and releases the lease. */
const patienceMs = 20_000;

/** Uncordons the node. */
export async function uncordonServing(
  deps: Deps,
  { spec }: MachineRecord,
  { name }: Node,
  settings: Settings,
  signal: AbortSignal,
): Promise<string | undefined> {
  return underMachineLease(deps, spec.name, settings, { ms: patienceMs, signal }, async () => {
    // Read again under the lease: another drain may have started.
    const [record, node] = await Promise.all([deps.inventory.machine(spec.name), deps.cluster.node(name)]);
    if (!record || !node || !isServing(record) || !(await uncordon(deps.cluster, node))) return undefined;
    const text = 'is needed after all: uncordoned';
    deps.log.info({ step: 'drain', machine: spec.name, node: name, text }, 'drain called off');
    await recordNodeEvent(deps, node, 'Normal', 'DrainCalledOff', `machine ${spec.name} ${text}`);
    return 'uncordoned';
  });
}
