import type { Node, Pod } from '../api/objects.ts';
import { nodes, pods } from '../api/resource-types.ts';
import { type Context, removePod } from './context.ts';
import { conditionOf, isFinished, withCondition } from './pod-state.ts';

const outOfService = ({ spec, status }: Node) =>
  conditionOf(status.conditions, 'Ready')?.status !== 'True' &&
  Boolean(spec.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service'));

/** Deletes pods that nobody is left to stop: their node is gone, or declared out of service. */
export function podGarbageCollector(context: Context): void {
  const { store, timers, work, on, settings, podsByNode } = context;
  const missing = new Set<string>();

  const collect = (pod: Pod, message: string) => {
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message };
    store.modify(
      pods,
      pod,
      (current) => ({
        ...current,
        status: {
          ...current.status,
          phase: isFinished(current) ? current.status.phase : 'Failed',
          conditions: withCondition(current.status.conditions, condition, store.timestamp()),
        },
      }),
      'status',
    );
    removePod(context, pod, 0);
  };

  /** Waits first: a node that is registered anew under its name keeps its pods. */
  const suspect = (name: string) => {
    if (missing.has(name)) return;
    missing.add(name);
    timers.after(settings.podGcMs, () => {
      missing.delete(name);
      if (store.get(nodes, undefined, name)) return;
      for (const pod of podsByNode.on(name)) collect(pod, 'PodGC: node no longer exists');
    });
  };

  on(nodes, ({ type, object }) => {
    const { name } = object.metadata;
    if (type === 'DELETED') suspect(name);
    else if (outOfService(object))
      work.add(`pod-gc/${name}`, () => {
        for (const pod of podsByNode.on(name))
          if (pod.metadata.deletionTimestamp) collect(pod, 'PodGC: node is out of service');
      });
  });
  on(pods, ({ type, object }) => {
    const { nodeName } = object.spec;
    if (type !== 'DELETED' && nodeName && !store.get(nodes, undefined, nodeName)) suspect(nodeName);
  });
}
