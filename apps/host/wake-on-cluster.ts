import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';
import { events } from '../../shared/ports/event-types.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Resource } from '../../shared/ports/resources.ts';

export const everything = (type: string): BamelEvent => ({ type, subject: 'everything', data: {} });

interface Changes {
  onPod(now: Pod | undefined, before: Pod | undefined): void;
  onNode(now: Node | undefined, before: Node | undefined): void;
  onResource(now: Resource | undefined, before: Resource | undefined): void;
}

/**
 * The changes of the cluster that wake functions, as events. Heartbeats, status updates and pods that have a node are
 * not among them. Neither are pods of DaemonSets, which no machine is powered on for, nor those of `ownNamespace`.
 */
export const wakeOnCluster = (emit: (event: BamelEvent) => void, ownNamespace?: string): Changes => ({
  onPod(now, before) {
    if (now?.unschedulable === undefined || before?.unschedulable !== undefined) return;
    if (!now.belongsToNode && now.namespace !== ownNamespace) emit(everything(events.podWaiting));
  },
  onNode(now, before) {
    if (now?.ready !== before?.ready || now?.bootID !== before?.bootID) emit(everything(events.nodeChanged));
  },
  onResource(now, before) {
    // Not what we write ourselves, which is the status.
    const written = (one: Resource | undefined) =>
      one && [one.uid, one.generation, one.deleting, one.labels, one.annotations];
    if (JSON.stringify(written(now)) !== JSON.stringify(written(before)))
      emit(everything(events.inventoryChanged));
  },
});
