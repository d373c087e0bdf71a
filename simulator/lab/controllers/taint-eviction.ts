import type { Pod, Taint } from '../api/objects.ts';
import { nodes, pods } from '../api/resource-types.ts';
import { type Context, removePod } from './context.ts';
import { tolerates, untolerated } from './node-fit.ts';
import { withCondition } from './pod-state.ts';

/** Seconds a pod puts up with these taints: 0 not at all, Infinity for good. */
function patience({ spec }: Pod, taints: readonly Taint[]): number {
  if (untolerated(spec.tolerations, taints, ['NoExecute'])) return 0;
  const seconds = taints.flatMap((taint) =>
    (spec.tolerations ?? [])
      .filter((toleration) => tolerates(toleration, taint))
      .map(({ tolerationSeconds }) => tolerationSeconds ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, Math.min(...seconds));
}

/** Deletes pods from nodes with NoExecute taints, after as long as they tolerate them. */
export function taintEviction(context: Context): void {
  const { store, timers, work, on, podsByNode } = context;
  const waiting = new Map<string, () => void>();

  const forget = (uid: string) => {
    waiting.get(uid)?.();
    waiting.delete(uid);
  };

  const evict = (pod: Pod) => {
    waiting.delete(pod.metadata.uid);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    };
    store.modify(
      pods,
      pod,
      (current) => ({
        ...current,
        status: {
          ...current.status,
          conditions: withCondition(current.status.conditions, condition, store.timestamp()),
        },
      }),
      'status',
    );
    removePod(context, pod);
  };

  const consider = (pod: Pod, taints: readonly Taint[]) => {
    const { uid, deletionTimestamp } = pod.metadata;
    const seconds = taints.length && !deletionTimestamp ? patience(pod, taints) : Number.POSITIVE_INFINITY;
    if (seconds === Number.POSITIVE_INFINITY) forget(uid);
    else if (seconds === 0) evict(pod);
    else if (!waiting.has(uid))
      waiting.set(
        uid,
        timers.after(seconds * 1000, () => evict(pod)),
      );
  };

  const taintsOf = (node: string) =>
    (store.get(nodes, undefined, node)?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

  on(nodes, ({ object, previous }) => {
    const { name } = object.metadata;
    const any = [object, previous].some((node) =>
      node?.spec.taints?.some(({ effect }) => effect === 'NoExecute'),
    );
    if (!any) return;
    work.add(`taints/${name}`, () => {
      const taints = taintsOf(name);
      for (const pod of podsByNode.on(name)) consider(pod, taints);
    });
  });
  on(pods, ({ type, object, previous }) => {
    const { nodeName } = object.spec;
    if (type === 'DELETED') forget(object.metadata.uid);
    else if (nodeName && previous?.spec.nodeName !== nodeName && taintsOf(nodeName).length)
      work.add(`taints/${nodeName}/${object.metadata.uid}`, () => consider(object, taintsOf(nodeName)));
  });
}
