import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';

/** Puts pods on nodes by what they request, the emptiest node first, as the default scheduler does. */
export interface Scheduler {
  add(pod: Pod): void;
  remove(name: string): void;
  addNode(node: Node): void;
  /** Its pods wait again. */
  removeNode(name: string): void;
  /** Those that wait get a node where there is room, and are returned. */
  place(): Pod[];
  pods(): readonly Pod[];
  waiting(): number;
  /** Nodes with a pod on them. */
  busy(): number;
}

interface Host {
  readonly node: Node;
  readonly free: Map<string, number>;
  readonly pods: Set<string>;
}

/** Among nodes that are equally empty the one that became idle last is used: others may leave. */
export function createScheduler(idleSince: (node: string) => number): Scheduler {
  const hosts = new Map<string, Host>();
  const pods = new Map<string, Pod>();
  const waiting = new Map<string, number>();

  const fits = ({ free }: Host, { requests }: Pod): boolean =>
    Object.entries(requests).every(([name, amount]) => amount <= (free.get(name) ?? 0)) &&
    (free.get('pods') ?? 0) > 0;
  const use = ({ node, free }: Host): number => {
    const share = (name: string): number => {
      const all = node.allocatable[name] ?? 0;
      return all > 0 ? 1 - (free.get(name) ?? 0) / all : 0;
    };
    return share('cpu') + share('memory');
  };
  const take = ({ free }: Host, { requests }: Pod, sign: 1 | -1): void => {
    for (const [name, amount] of Object.entries({ ...requests, pods: 1 }))
      free.set(name, (free.get(name) ?? 0) - sign * amount);
  };
  const better = (a: Host, b: Host): boolean => {
    const [one, other] = [use(a), use(b)];
    if (one !== other) return one < other;
    const [since, than] = [idleSince(a.node.name), idleSince(b.node.name)];
    return since !== than ? since > than : a.node.name < b.node.name;
  };
  const bestFor = (pod: Pod): Host | undefined => {
    let best: Host | undefined;
    for (const host of hosts.values()) if (fits(host, pod) && (!best || better(host, best))) best = host;
    return best;
  };
  return {
    add(pod) {
      pods.set(pod.name, pod);
      waiting.set(pod.name, pod.createdAt);
    },
    remove(name) {
      const pod = pods.get(name);
      const host = pod?.node === undefined ? undefined : hosts.get(pod.node);
      if (pod && host?.pods.delete(name)) take(host, pod, -1);
      pods.delete(name);
      waiting.delete(name);
    },
    addNode(node) {
      hosts.set(node.name, { node, free: new Map(Object.entries(node.allocatable)), pods: new Set() });
    },
    removeNode(name) {
      for (const one of hosts.get(name)?.pods ?? []) {
        const pod = pods.get(one);
        if (!pod) continue;
        const { node: _gone, ...rest } = pod;
        pods.set(one, { ...rest, unschedulable: 'its node is drained' });
        waiting.set(one, pod.createdAt);
      }
      hosts.delete(name);
    },
    place() {
      const placed: Pod[] = [];
      for (const [name] of [...waiting].sort(([, a], [, b]) => a - b)) {
        const pod = pods.get(name);
        const host = pod && bestFor(pod);
        if (!pod || !host) continue;
        take(host, pod, 1);
        host.pods.add(name);
        const { unschedulable: _why, ...rest } = pod;
        pods.set(name, { ...rest, node: host.node.name });
        waiting.delete(name);
        placed.push(pod);
      }
      return placed;
    },
    pods: () => [...pods.values()],
    waiting: () => waiting.size,
    busy: () => [...hosts.values()].filter((host) => host.pods.size > 0).length,
  };
}
