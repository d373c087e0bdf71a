import { type Match, providerIdOf } from '../../shared/core/cluster/match.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import { preparationOf } from '../../shared/core/cluster/prepare-node.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { seconds } from '../../shared/core/text.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import { poolOf, type WatchContext } from './watch-context.ts';

/** Prepares the node, then marks the machine as serving. Safe to repeat after a crash. */
export async function join(
  context: WatchContext,
  record: MachineRecord,
  { node, by }: Match,
  lease: Lease,
): Promise<string | undefined> {
  const { deps, settings } = context;
  const { name } = record.spec;
  const providerID = node.providerID || providerIdOf(record.spec);
  deps.failpoint('join-before-node');
  if (lease.remainingMs() === 0) return undefined;
  await deps.cluster.changeNode(node.name, {
    ...preparationOf(record.spec, poolOf(context, record), node),
    // It is immutable once set.
    ...(!node.providerID && { providerID }),
    // Uncordoned only if we cordoned it.
    ...(node.annotations[bamelKeys.cordonedBy] !== undefined && {
      unschedulable: false,
      annotations: { [bamelKeys.cordonedBy]: null },
    }),
  });
  deps.failpoint('join-after-node');
  const now = deps.clock.now();
  const result = await applyEvent(deps.inventory, record, {
    event: { type: 'joined', node: node.name },
    by: 'join-watcher',
    why: `matched by ${by}`,
    observed: {
      kubernetesNode: node.name,
      nodeReady: true,
      bootID: node.bootID,
      matchedBy: by,
      providerID,
      unreadySince: undefined,
      nodeProblem: undefined,
    },
    lease,
    settings,
    now,
  });
  if (result.kind !== 'changed') return undefined;
  deps.failpoint('join-after-result');
  const { bootTime, learnedBootMs } = record.status;
  const took = bootTime === undefined ? '' : ` after ${seconds(now - bootTime)}`;
  const usually = learnedBootMs === undefined ? '' : ` (usually ${seconds(learnedBootMs)})`;
  const text = `is node ${node.name} (by ${by}), Ready${took}${usually}; labels and taints set`;
  deps.log.info({ step: 'join', machine: name, node: node.name, by, text }, 'machine joined');
  await deps.sink.emit(machineEvent(events.machineJoined, name));
  await deps.cluster.recordEvent(
    { kind: 'Node', name: node.name },
    'Normal',
    'MachineJoined',
    `bamel: machine ${name} ${text}`,
  );
  return `joined as ${node.name}`;
}

/** The machine did not become a node in time: quarantines it, and the next evaluation chooses another one. */
export async function quarantine(
  deps: Deps,
  record: MachineRecord,
  event: MachineEvent,
  settings: Settings,
  lease: Lease,
): Promise<string | undefined> {
  const { name } = record.spec;
  const now = deps.clock.now();
  const result = await applyEvent(deps.inventory, record, {
    event,
    by: 'join-watcher',
    lease,
    settings,
    now,
  });
  if (result.kind !== 'changed') return undefined;
  const text = 'message' in event ? event.message : event.type;
  deps.log.warn({ step: 'join', machine: name, text: `quarantined: ${text}` }, 'machine quarantined');
  await deps.sink.emit(machineEvent(events.machineFailed, name));
  return text;
}
