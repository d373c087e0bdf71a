import type { Node } from '../../shared/core/cluster/cluster.ts';
import { planDrain } from '../../shared/core/cluster/drain-plan.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import {
  clusterAutoscalerMarks,
  isDeletedByClusterAutoscaler,
} from '../../shared/core/cluster/prepare-node.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { Drain } from '../../shared/core/machine/machine.ts';
import { plural, seconds } from '../../shared/core/text.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import { applyEvent, saveObservation } from '../../shared/state/machine-writes.ts';
import { type DrainContext, recordNodeEvent } from './drain-context.ts';

/**
 * All pods are gone: waits for the volumes to be detached, up to a timeout, then marks the machine as
 * drained.
 */
export async function finishDrain(
  context: DrainContext,
  node: Node | undefined,
  progress: Drain,
): Promise<string | undefined> {
  const { deps, record, settings, lease } = context;
  const { name } = record.spec;
  const volumes = node ? await deps.cluster.volumesOn(node.name) : [];
  const waitedMs = deps.clock.now() - (progress.emptySince ?? 0);
  if (volumes && volumes.length > 0 && waitedMs < settings.timings.volumeTimeoutMs) {
    const waitingFor = `${volumes.length} ${plural(volumes.length, 'volume')} to be detached, ${volumes[0]} among them`;
    await saveObservation(deps.inventory, record, { drain: { ...progress, waitingFor } });
    return undefined;
  }
  deps.failpoint('drain-before-result');
  // Checked again: pods that tolerate the cordon, or that are bound by name, may have been added.
  if (node && (await hasNewPods(context, node))) return undefined;
  const warning =
    volumes && volumes.length > 0
      ? `${volumes.length} ${plural(volumes.length, 'volume')} still attached after ${seconds(waitedMs)}: ${volumes.join(', ')}`
      : undefined;
  const result = await applyEvent(deps.inventory, record, {
    event: { type: 'drained' },
    by: 'drain-node',
    why: warning,
    observed: { drain: progress },
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind !== 'changed') return undefined;
  deps.failpoint('drain-after-result');
  const { podsTotal } = progress;
  const moved = podsTotal > 0 ? `${podsTotal} ${plural(podsTotal, 'pod')} moved` : 'it was empty';
  const text = `drained, ${moved}${warning ? `; ${warning}` : ''}`;
  deps.log[warning ? 'warn' : 'info']({ step: 'drain', machine: name, ...progress, text }, 'drained');
  await deps.sink.emit(machineEvent(events.machineDrained, name));
  if (node)
    await recordNodeEvent(
      deps,
      node,
      warning ? 'Warning' : 'Normal',
      'Drained',
      `machine ${name} is ${text}`,
    );
  return 'drained';
}

async function hasNewPods({ deps, settings }: DrainContext, { name }: Node): Promise<boolean> {
  const [node, pods] = await Promise.all([deps.cluster.node(name), deps.cluster.podsOn(name)]);
  if (node && !node.unschedulable) return true;
  const context = { settings, budgets: [], refusals: new Map(), now: deps.clock.now() };
  return planDrain(pods, context).leaving.length > 0;
}

/** Uncordons only what we cordoned, then records it: safe to repeat after a crash. */
export async function abortDrain(
  { deps, record, settings, lease }: DrainContext,
  event: MachineEvent,
  node: Node | undefined,
): Promise<string | undefined> {
  if (lease.remainingMs() === 0) return undefined;
  const { name } = record.spec;
  if (node) await uncordon(deps.cluster, node);
  const result = await applyEvent(deps.inventory, record, {
    event,
    by: 'drain-node',
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind !== 'changed') return undefined;
  const why = 'why' in event ? event.why : event.type;
  const text = `gave up: ${why}. It is uncordoned and stays on`;
  deps.log.warn({ step: 'drain', machine: name, text }, 'drain given up');
  await deps.sink.emit(machineEvent(events.drainAborted, name));
  if (node) await recordNodeEvent(deps, node, 'Warning', 'DrainAborted', `drain of machine ${name} ${text}`);
  return `gave up: ${why}`;
}

/** True: it was cordoned by us or by the Cluster Autoscaler, and is uncordoned now. */
export async function uncordon(cluster: DrainContext['deps']['cluster'], node: Node): Promise<boolean> {
  if (node.annotations[bamelKeys.cordonedBy] === undefined && !isDeletedByClusterAutoscaler(node))
    return false;
  const marks = node.taints.filter(({ key }) => clusterAutoscalerMarks.includes(key));
  await cluster.changeNode(node.name, {
    unschedulable: false,
    annotations: { [bamelKeys.cordonedBy]: null },
    // The Cluster Autoscaler treats a node with its taint as deleted.
    ...(marks.length > 0 && { removeTaints: marks.map(({ key }) => ({ key })) }),
  });
  return true;
}
