import type { Node } from '../cluster/cluster.ts';
import { because, type Explained, type Reason } from '../reasons/reason.ts';
import type { Recovery, Settings } from '../settings.ts';
import { capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';

/** A serving machine whose node is not Ready. */
export interface Silence {
  readonly machine: Machine;
  /** Undefined: the Node object is gone. */
  readonly node: Node | undefined;
  readonly unreadyForMs: number;
  readonly recovery: Recovery;
  /** Why no pod on it may be interrupted, if so. */
  readonly podInTheWay: Reason | undefined;
  readonly protection: Reason | undefined;
  /** Power cycles of its pool within the last hour. */
  readonly cycles: number;
}

export type RecoveryStep =
  | ({ readonly kind: 'wait' } & Partial<Explained>)
  | ({ readonly kind: 'lost' | 'power-cycle' } & Explained);

/** What to do about it. Waiting is always right; whatever else is done must be safe and worth it. */
export function recoveryOf(silence: Silence, halted: Reason | undefined): RecoveryStep {
  const { machine, node, unreadyForMs, recovery } = silence;
  const { policy, notReadyForMs } = recovery;
  if (machine.status.operation || unreadyForMs < notReadyForMs) return { kind: 'wait' };
  if (halted) return { kind: 'wait', ...because(halted) };
  // A kubelet whose Node is deleted does not register again by itself: waiting would be for ever.
  if (!node) return { kind: 'lost', ...because({ code: 'node-gone', forMs: unreadyForMs }) };
  // Without the elapsed time: the stored text changes only with the state.
  const what: Reason = { code: 'node-silent', forMs: notReadyForMs };
  if (policy === 'wait') return { kind: 'wait', ...because({ code: 'pool-waits', what }) };
  if (policy === 'replace') return { kind: 'lost', ...because(what) };
  const not = whyNoCycle(silence);
  return not
    ? { kind: 'wait', ...because({ code: 'not-power-cycled', what, because: not }) }
    : { kind: 'power-cycle', ...because(what) };
}

function whyNoCycle(silence: Silence): Reason | undefined {
  const { machine, node, podInTheWay, protection, cycles, recovery } = silence;
  const { powerState, powerInferred } = machine.status;
  if (protection) return protection;
  if (powerState !== 'on' || powerInferred)
    return { code: 'power-not-known', power: powerState, needed: 'on' };
  if (!node?.silent) return { code: 'kubelet-answers' };
  if (podInTheWay) return podInTheWay;
  if (cycles >= recovery.maxPerHour) return { code: 'cycles-used-up', cycles };
  return undefined;
}

/** Why nothing is recovered at all: when many nodes are lost at once it is probably the network, not the machines. */
export function manyLost(
  machines: readonly Machine[],
  isReady: (machine: Machine) => boolean,
  { unready }: Settings,
): Reason | undefined {
  const serving = machines.filter((machine) => capacityOf(machine) === 'serving');
  const lost = serving.filter((machine) => !isReady(machine)).length;
  const many = lost > unready.count && lost > unready.share * serving.length;
  const all = lost > 1 && lost === serving.length;
  return many || all ? { code: 'many-nodes-lost', lost, of: serving.length } : undefined;
}
