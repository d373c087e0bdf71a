import { CoreV1Api, EventsV1Api, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createLog } from '../../shared/process/log.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { hostRole } from '../../tools/real-stack/host-role.ts';
import { addNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { podSpec } from '../../tools/worlds/cluster-client.ts';
import { fastClock } from '../contract/cluster-adapter-suite.ts';

describeWith(controlPlanePrograms, 'with the permissions that the host is installed with', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  }, 600_000);
  afterAll(() => plane?.close());

  test('everything that is asked of the cluster is allowed', async () => {
    const { kubeConfig } = plane;
    const core = kubeConfig.makeApiClient(CoreV1Api);
    const rbac = kubeConfig.makeApiClient(RbacAuthorizationV1Api);
    const namespace = 'default';
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'bamel' } } });
    await rbac.createClusterRole({ body: hostRole() });
    await rbac.createClusterRoleBinding({
      body: {
        metadata: { name: 'bamel' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bamel' },
        subjects: [{ kind: 'ServiceAccount', name: 'bamel', namespace }],
      },
    });
    await addNode(kubeConfig, 'n1');
    const make = async (name: string) => {
      const body = { metadata: { name }, spec: { ...podSpec(), nodeName: 'n1' } };
      const { metadata } = await core.createNamespacedPod({ namespace, body });
      return { namespace, name, uid: metadata?.uid ?? '' };
    };
    const log = createLog({ level: 'silent', format: 'json' });
    const cluster = createKubeCluster({
      transport: kubeTransport(await plane.asServiceAccount(namespace, 'bamel')),
      clock: fastClock(10),
      log,
    });
    try {
      await eventually(async () =>
        expect((await cluster.view()).nodes.map(({ name }) => name)).toEqual(['n1']),
      );
      await cluster.changeNode('n1', { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] });
      expect(await cluster.evict(await make('evicted'))).toEqual({ kind: 'evicted' });
      expect(await cluster.forceDelete(await make('forced'))).toBe(true);
      expect((await cluster.podsOn('n1')).map(({ name }) => name)).not.toContain('forced');
      expect(await cluster.volumesOn('n1')).toEqual([]);
      await cluster.recordEvent({ kind: 'Node', name: 'n1' }, 'Normal', 'Allowed', 'bamel: this was written');
      const { items } = await kubeConfig.makeApiClient(EventsV1Api).listNamespacedEvent({ namespace });
      expect(items.map(({ reason }) => reason)).toContain('Allowed');
      expect(await cluster.deleteNode('n1')).toBe(true);
    } finally {
      cluster.close();
    }
  });
});
