import type { Clock } from '../rack/clock.ts';
import type { KubeApi } from './kube-api.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const leasePath = (name: string) => `${leases}/${name}`;

/** MicroTime wants exactly six digits after the second. */
const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');

/** Creates or renews the lease that says a node's kubelet is alive. */
export async function renewLease(api: KubeApi, name: string, nodeUid: string, now: number): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(now) };
  const renewed = await api.send('PATCH', leasePath(name), { spec });
  if (renewed.status < 300) return;
  if (renewed.status !== 404)
    throw new Error(`renewing the lease of ${name} was answered with ${renewed.status}`);
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: nodeUid };
  const created = await api.send('POST', leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease', ownerReferences: [owner] },
    spec,
  });
  if (created.status >= 300 && created.status !== 409) {
    throw new Error(`creating the lease of ${name} was answered with ${created.status}`);
  }
}

/** One timer for all nodes; a slow round delays the next instead of piling up. */
export function startHeartbeats(clock: Clock, everyMs: number, round: () => Promise<void>): { stop(): void } {
  let cancel = () => {};
  let stopped = false;
  const arm = () => {
    if (!stopped) cancel = clock.after(everyMs, () => void round().finally(arm));
  };
  arm();
  return {
    stop() {
      stopped = true;
      cancel();
    },
  };
}
