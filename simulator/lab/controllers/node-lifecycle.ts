import { sameJson } from '../api/json.ts';
import type { Node, Taint } from '../api/objects.ts';
import { leases, nodes, pods } from '../api/resource-types.ts';
import { type Context, record } from './context.ts';
import { conditionOf, isReady, withCondition } from './pod-state.ts';

const prefix = 'node.kubernetes.io/';
const leaseNamespace = 'kube-node-lease';
const component = 'node-controller';

/** Taints that say what the conditions say; each line: when, which taint, with which effects. */
const rules: readonly { key: string; effects: readonly string[]; applies: (node: Node) => boolean }[] = [
  { key: 'not-ready', effects: ['NoSchedule', 'NoExecute'], applies: (node) => readiness(node) === 'False' },
  {
    key: 'unreachable',
    effects: ['NoSchedule', 'NoExecute'],
    applies: (node) => readiness(node) === 'Unknown',
  },
  { key: 'unschedulable', effects: ['NoSchedule'], applies: ({ spec }) => spec.unschedulable === true },
  { key: 'memory-pressure', effects: ['NoSchedule'], applies: has('MemoryPressure') },
  { key: 'disk-pressure', effects: ['NoSchedule'], applies: has('DiskPressure') },
  { key: 'pid-pressure', effects: ['NoSchedule'], applies: has('PIDPressure') },
  { key: 'network-unavailable', effects: ['NoSchedule'], applies: has('NetworkUnavailable') },
];

function has(type: string) {
  return ({ status }: Node) => conditionOf(status.conditions, type)?.status === 'True';
}

/** What the Ready condition says; nothing before the kubelet has spoken. */
const readiness = ({ status }: Node) => conditionOf(status.conditions, 'Ready')?.status;

/** The node's taints with those of the rules put right, in place. */
function taintsOf(node: Node, at: string): Taint[] {
  const wanted: Taint[] = rules
    .filter(({ applies }) => applies(node))
    .flatMap(({ key, effects }) => effects.map((effect) => ({ key: prefix + key, effect })));
  const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
  const ruled = (taint: Taint) => rules.some(({ key }) => taint.key === prefix + key);
  const present = node.spec.taints ?? [];
  // A node whose kubelet has not spoken keeps the taint it was admitted with.
  const waiting = (taint: Taint) => readiness(node) === undefined && taint.key === `${prefix}not-ready`;
  const kept = present.filter(
    (taint) => !ruled(taint) || waiting(taint) || wanted.some((one) => same(one, taint)),
  );
  const added = wanted.filter((taint) => !present.some((one) => same(one, taint)));
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: at }))];
}

const watched = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Notices nodes that went silent or are not ready, and says so in conditions, taints and their pods. */
export function nodeLifecycleController(context: Context): void {
  const { store, timers, work, on, settings, podsByNode } = context;
  const silences = new Map<string, () => void>();

  const heard = (name: string) => {
    silences.get(name)?.();
    silences.set(
      name,
      timers.after(settings.nodeGraceMs, () => silent(name)),
    );
  };

  const silent = (name: string) => {
    const node = store.get(nodes, undefined, name);
    if (!node) return;
    const at = store.timestamp();
    const conditions = watched.reduce((all, type) => {
      const spoken = conditionOf(all, type) !== undefined;
      const reason = spoken ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated';
      const message = `Kubelet ${spoken ? 'stopped posting' : 'never posted'} node status.`;
      return withCondition(all, { ...conditionOf(all, type), type, status: 'Unknown', reason, message }, at);
    }, node.status.conditions ?? []);
    store.modify(
      nodes,
      node,
      (current) => ({ ...current, status: { ...current.status, conditions } }),
      'status',
    );
  };

  const sync = (name: string) => {
    const node = store.get(nodes, undefined, name);
    if (!node) return;
    const taints = taintsOf(node, store.timestamp());
    if (!sameJson(taints, node.spec.taints ?? []))
      store.modify(nodes, node, (current) => ({
        ...current,
        spec: { ...current.spec, taints: taints.length ? taints : undefined },
      }));
  };

  const markPods = (node: Node) => {
    record(context, node, {
      type: 'Normal',
      reason: 'NodeNotReady',
      message: `Node ${node.metadata.name} status is now: NodeNotReady`,
      component,
    });
    for (const pod of podsByNode.on(node.metadata.name)) {
      if (!isReady(pod)) continue;
      const condition = { ...conditionOf(pod.status.conditions, 'Ready'), type: 'Ready', status: 'False' };
      const conditions = withCondition(pod.status.conditions, condition, store.timestamp());
      store.modify(
        pods,
        pod,
        (current) => ({ ...current, status: { ...current.status, conditions } }),
        'status',
      );
    }
  };

  on(nodes, ({ type, object, previous }) => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      silences.get(name)?.();
      silences.delete(name);
      return;
    }
    const beat = (node: Node | undefined) => conditionOf(node?.status.conditions, 'Ready')?.lastHeartbeatTime;
    if (!previous || (beat(object) !== beat(previous) && readiness(object) !== 'Unknown')) heard(name);
    work.add(`nodes/${name}`, () => sync(name));
    if (previous && readiness(previous) === 'True' && readiness(object) !== 'True')
      work.add(`nodes/${name}/pods`, () => markPods(object));
  });
  on(leases, ({ type, object }) => {
    const { namespace, name } = object.metadata;
    if (type !== 'DELETED' && namespace === leaseNamespace && store.get(nodes, undefined, name)) heard(name);
  });
}
