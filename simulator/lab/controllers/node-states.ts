import { fromQuantities } from '../../../shared/core/cluster/resources.ts';
import { sameJson } from '../api/json.ts';
import type { Node, Pod } from '../api/objects.ts';
import { type Demand, demandOf, type NodeState, type Usage } from './node-fit.ts';
import { isFinished } from './pod-state.ts';
import type { TypedChange } from './pods-by-node.ts';

/** What the scheduler looks at in a node; heartbeats change none of it. */
const facts = ({ metadata, spec, status }: Node) => [
  metadata.labels,
  spec,
  status.allocatable,
  status.capacity,
];

/** Every node with what its pods take, kept up to date change by change. */
export class NodeStates {
  readonly #nodes = new Map<string, NodeState>();
  readonly #usages = new Map<string, Usage>();
  readonly #placed = new Map<string, { node: string; demand: Demand }>();

  get size(): number {
    return this.#nodes.size;
  }

  all(): NodeState[] {
    return [...this.#nodes.values()];
  }

  get(name: string): NodeState | undefined {
    return this.#nodes.get(name);
  }

  /** True if a pod might fit now that did not before. */
  applyNode({ type, object, previous }: TypedChange<Node>): boolean {
    const { name } = object.metadata;
    if (type === 'DELETED') return this.#nodes.delete(name);
    const known = this.#nodes.get(name);
    const { allocatable, capacity } = object.status;
    if (known && previous && sameJson(facts(object), facts(previous))) {
      this.#nodes.set(name, { ...known, node: object });
      return false;
    }
    this.#nodes.set(name, {
      node: object,
      allocatable: fromQuantities(allocatable ?? capacity),
      usage: this.#usageOf(name),
    });
    return true;
  }

  /** True if room was made. */
  applyPod({ type, object }: TypedChange<Pod>): boolean {
    const { uid } = object.metadata;
    const before = this.#placed.get(uid);
    const node = type === 'DELETED' || isFinished(object) ? undefined : object.spec.nodeName;
    if (before?.node === node) return false;
    if (before) this.#count(before.node, before.demand, -1);
    this.#placed.delete(uid);
    if (node) {
      const demand = demandOf(object);
      this.#placed.set(uid, { node, demand });
      this.#count(node, demand, 1);
    }
    return before !== undefined;
  }

  #usageOf(node: string): Usage {
    const usage = this.#usages.get(node) ?? { amounts: {}, ports: new Map(), pods: 0 };
    this.#usages.set(node, usage);
    return usage;
  }

  #count(node: string, { requests, ports }: Demand, sign: 1 | -1): void {
    const usage = this.#usageOf(node);
    usage.pods += sign;
    for (const [name, amount] of Object.entries(requests))
      usage.amounts[name] = (usage.amounts[name] ?? 0) + sign * amount;
    for (const port of ports) {
      const left = (usage.ports.get(port) ?? 0) + sign;
      if (left > 0) usage.ports.set(port, left);
      else usage.ports.delete(port);
    }
    if (usage.pods === 0 && !this.#nodes.has(node)) this.#usages.delete(node);
  }
}
