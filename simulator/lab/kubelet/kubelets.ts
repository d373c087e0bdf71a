import { z } from 'zod';
import { parseQuantity } from '../../../shared/core/cluster/resources.ts';
import { type Clock, realClock, timerGroup } from '../rack/clock.ts';
import { renewLease, startHeartbeats } from './heartbeats.ts';
import { type ApiAccess, connectKube } from './kube-api.ts';
import type { Log } from './log.ts';
import type { KubeletHost } from './node-object.ts';
import { Pod } from './pod-life.ts';
import { podRunner } from './pod-runner.ts';
import { type RegistrarName, register, registrars, setReady } from './registrar.ts';
import { watchAll } from './watch.ts';

export interface KubeletOptions {
  registrar?: RegistrarName;
  clock?: Clock;
  /** Lab time between heartbeats. */
  heartbeatMs?: number;
  /** A kubelet told of the shutdown marks its node NotReady before it goes, as with shutdownGracePeriod. */
  gracefulShutdown?: boolean;
  log?: Log;
}

export interface Kubelets {
  /**
   * The host's operating system is up: its kubelet registers the node and keeps at it until that worked.
   * Resolves after the first try.
   */
  booted(host: KubeletHost): Promise<void>;
  shuttingDown(name: string): void;
  /** Power is gone: heartbeats end, the Node and its pods stay as they are. */
  halted(name: string): void;
  /** 0 to 1: how much of the node's cpu its running pods ask for. */
  load(name: string): number;
  stop(): Promise<void>;
}

interface Running {
  host: KubeletHost;
  /** Of its Node, while there is one. */
  uid?: string | undefined;
  stopping: boolean;
}

const Node = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), resourceVersion: z.string() }),
  status: z
    .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) })
    .default({ conditions: [] }),
});

const retryAfter = 1000;

/** The kubelets of all machines, over one connection pool, one watch of pods and one of nodes. */
export function startKubelets(access: ApiAccess, options: KubeletOptions = {}): Kubelets {
  const { clock = realClock(), heartbeatMs = 10_000, gracefulShutdown = false, log = () => {} } = options;
  const api = connectKube(access);
  // Its own connections: a thousand pods that start at once must not hold up the heartbeats.
  const pulse = connectKube(access);
  const registrar = registrars[options.registrar ?? 'kubelet'];
  const running = new Map<string, Running>();
  const timers = timerGroup(clock);
  let stopped = false;
  const pods = podRunner(api, clock, log);

  const attempt = async (what: string, name: string, action: () => Promise<unknown>, again?: () => void) => {
    try {
      await action();
    } catch (error) {
      if (stopped) return;
      log(what, { node: name, error: String(error) });
      if (again) timers.after(retryAfter, again);
    }
  };

  const heartbeat = (name: string, { uid }: Running) =>
    uid === undefined
      ? undefined
      : attempt('heartbeat failed', name, () => renewLease(pulse, name, uid, clock.now()));

  const join = (kubelet: Running): Promise<void> => {
    const { host } = kubelet;
    const stillUp = () => running.get(host.name) === kubelet;
    const register1 = async () => {
      const uid = await register(api, registrar, host);
      if (!stillUp()) return;
      kubelet.uid = uid;
      if (!registrar.ours) return;
      await heartbeat(host.name, kubelet);
      if (stillUp()) pods.booted(host.name, host.address);
    };
    return attempt('registration failed, trying again', host.name, register1, () => {
      if (stillUp()) void join(kubelet);
    });
  };

  const heartbeats = startHeartbeats(clock, heartbeatMs, async () => {
    if (registrar.ours) await Promise.all([...running].map(([name, kubelet]) => heartbeat(name, kubelet)));
  });

  const podWatch = watchAll(api, '/api/v1/pods', Pod, pods.change, log);
  // The control plane may have given up on a kubelet that was only late: the kubelet says it is there.
  const nodeWatch = watchAll(
    api,
    '/api/v1/nodes',
    Node,
    (there, { metadata: { name, uid }, status }) => {
      const kubelet = running.get(name);
      if (!registrar.ours || !kubelet || kubelet.uid !== uid) return;
      // Somebody deleted the Node: a kubelet registers again only when it starts again.
      if (!there) kubelet.uid = undefined;
      if (!there || kubelet.stopping) return;
      const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
      if (ready !== 'True') void attempt('node status failed', name, () => setReady(api, name, true));
    },
    log,
  );

  return {
    booted(host) {
      const kubelet = { host, stopping: false };
      running.set(host.name, kubelet);
      return join(kubelet);
    },
    shuttingDown(name) {
      const kubelet = running.get(name);
      if (!kubelet || !gracefulShutdown || !registrar.ours) return;
      kubelet.stopping = true;
      void attempt('node status failed', name, () => setReady(api, name, false));
    },
    halted(name) {
      if (!running.delete(name)) return;
      pods.halted(name);
      void attempt('letting go of the node failed', name, () => registrar.halted(api, name));
    },
    load(name) {
      const cores = parseQuantity(running.get(name)?.host.capacity.cpu ?? 0);
      return cores ? Math.min(1, pods.cpuInUse(name) / cores) : 0;
    },
    async stop() {
      stopped = true;
      heartbeats.stop();
      timers.cancelAll();
      pods.stop();
      running.clear();
      await Promise.all([podWatch.stop(), nodeWatch.stop()]);
      api.close();
      pulse.close();
    },
  };
}
