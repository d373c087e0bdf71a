import { parseQuantity } from '../../../shared/core/cluster/resources.ts';
import { type Clock, timerGroup } from '../rack/clock.ts';
import type { KubeApi } from './kube-api.ts';
import type { Log } from './log.ts';
import { nextStep, type Pod, type Step, statusAfter } from './pod-life.ts';
import { expectOk } from './registrar.ts';

interface Held {
  pod: Pod;
  /** It ran when its machine went dark. */
  interrupted: boolean;
  planned?: { do: Step['do']; cancel(): void } | undefined;
}

export interface PodRunner {
  change(there: boolean, pod: Pod): void;
  booted(node: string, address: string): void;
  halted(node: string): void;
  /** Millicores asked for by the pods that run there. */
  cpuInUse(node: string): number;
  stop(): void;
}

const retryAfter = 1000;

/** Plays all kubelets' pods: what is bound to a living node starts, ends, and goes when it is told to. */
export function podRunner(api: KubeApi, clock: Clock, log: Log): PodRunner {
  const byNode = new Map<string, Map<string, Held>>();
  const alive = new Map<string, string>();
  const timers = timerGroup(clock);
  let addresses = 0;
  let stopped = false;

  const on = (node: string) => byNode.get(node) ?? new Map<string, Held>();

  /** A plan stays until the pod calls for another: an unrelated change does not start its time again. */
  const plan = (node: string, held: Held) => {
    const step = alive.has(node) ? nextStep(held.pod, held.interrupted) : undefined;
    if (step && step.do === held.planned?.do) return;
    held.planned?.cancel();
    held.planned = step && {
      do: step.do,
      cancel: timers.after(step.afterMs, () => void carryOut(node, held, step.do)),
    };
  };

  const carryOut = async (node: string, held: Held, step: Step['do']) => {
    const { pod, interrupted } = held;
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    try {
      if (step === 'remove') await expectOk(api, 'DELETE', path, removal(pod), 404, 409);
      else {
        const podIP = pod.status.podIP ?? nextAddress();
        const status = statusAfter(
          step,
          pod,
          alive.get(node) ?? '',
          podIP,
          new Date(clock.now()).toISOString(),
        );
        held.interrupted = false;
        await expectOk(
          api,
          'PATCH',
          `${path}/status`,
          { metadata: { uid: pod.metadata.uid }, status },
          404,
          409,
        );
      }
    } catch (error) {
      if (stopped) return;
      held.interrupted = interrupted;
      log('a pod step failed, trying again', { path, step, error: String(error) });
      timers.after(retryAfter, () => {
        held.planned = undefined;
        if (on(node).get(pod.metadata.uid) === held) plan(node, held);
      });
    }
  };

  const nextAddress = () => {
    addresses += 1;
    return `10.${128 + ((addresses >> 16) & 63)}.${(addresses >> 8) & 255}.${addresses & 255}`;
  };

  return {
    change(there, pod) {
      const node = pod.spec.nodeName;
      if (!node) return;
      const { uid } = pod.metadata;
      const held = on(node).get(uid) ?? { pod, interrupted: false };
      held.pod = pod;
      byNode.set(node, on(node).set(uid, held));
      if (there) return plan(node, held);
      held.planned?.cancel();
      on(node).delete(uid);
    },
    booted(node, address) {
      alive.set(node, address);
      for (const held of on(node).values()) plan(node, held);
    },
    halted(node) {
      alive.delete(node);
      for (const held of on(node).values()) {
        held.interrupted ||= held.pod.status.phase === 'Running';
        plan(node, held);
      }
    },
    cpuInUse(node) {
      let cores = 0;
      for (const { pod } of on(node).values()) {
        if (pod.status.phase !== 'Running') continue;
        for (const { resources } of pod.spec.containers)
          cores += parseQuantity(resources?.requests?.cpu ?? 0) ?? 0;
      }
      return cores;
    },
    stop() {
      stopped = true;
      timers.cancelAll();
    },
  };
}

const removal = ({ metadata }: Pod) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  gracePeriodSeconds: 0,
  preconditions: { uid: metadata.uid },
});
