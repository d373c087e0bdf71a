import type { Node } from '../cluster/cluster.ts';
import type { Recovery, Settings } from '../settings.ts';
import { seconds } from '../text.ts';
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
  readonly podInTheWay: string | undefined;
  readonly protection: string | undefined;
  /** Power cycles of its pool within the last hour. */
  readonly cycles: number;
}

export type RecoveryStep =
  | { readonly kind: 'wait'; readonly why?: string | undefined }
  | { readonly kind: 'lost' | 'power-cycle'; readonly why: string };

/** What to do about it. Waiting is always right; whatever else is done must be safe and worth it. */
export function recoveryOf(silence: Silence, halted: string | undefined): RecoveryStep {
  const { machine, node, unreadyForMs, recovery } = silence;
  const { policy, notReadyForMs } = recovery;
  if (machine.status.operation || unreadyForMs < notReadyForMs) return { kind: 'wait' };
  if (halted) return { kind: 'wait', why: halted };
  // A kubelet whose Node is deleted does not register again by itself: waiting would be for ever.
  if (!node) return { kind: 'lost', why: `its node has been gone for ${seconds(unreadyForMs)}` };
  // Without the elapsed time: the stored text changes only with the state.
  const what = `its node has been NotReady for more than ${seconds(notReadyForMs)}`;
  if (policy === 'wait') return { kind: 'wait', why: `${what}; its pool waits` };
  if (policy === 'replace') return { kind: 'lost', why: what };
  const not = whyNoCycle(silence);
  return not
    ? { kind: 'wait', why: `${what}; not power-cycled: ${not}` }
    : { kind: 'power-cycle', why: what };
}

function whyNoCycle(silence: Silence): string | undefined {
  const { machine, node, podInTheWay, protection, cycles, recovery } = silence;
  const { powerState, powerInferred } = machine.status;
  if (protection) return protection;
  if (powerState !== 'on' || powerInferred) return `its power is ${powerState}, not known to be on`;
  if (!node?.silent) return 'its kubelet still answers, so its pods may be running well';
  if (podInTheWay) return podInTheWay;
  if (cycles >= recovery.maxPerHour)
    return `${cycles} of its pool within an hour are enough (recovery.maxPerHour)`;
  return undefined;
}

/** Why nothing is recovered at all: when many nodes are lost at once it is probably the network, not the machines. */
export function manyLost(
  machines: readonly Machine[],
  isReady: (machine: Machine) => boolean,
  { unready }: Settings,
): string | undefined {
  const serving = machines.filter((machine) => capacityOf(machine) === 'serving');
  const lost = serving.filter((machine) => !isReady(machine)).length;
  const many = lost > unready.count && lost > unready.share * serving.length;
  const all = lost > 1 && lost === serving.length;
  return many || all
    ? `${lost} of ${serving.length} nodes are NotReady at once: probably the network. None is given up or restarted until fewer are`
    : undefined;
}
