import { CoreV1Api } from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeObjects } from '../../shared/adapters/kubernetes/objects.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createLog } from '../../shared/process/log.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode, removeNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { clusterAdapterContract, expectUnavailable, fastClock } from '../contract/cluster-adapter-suite.ts';
import { closing } from '../support/cleanup.ts';

describeWith([...controlPlanePrograms, 'openssl'], 'the cluster adapter', () => {
  const start = async () => {
    const { kubeConfig, compact, close } = await startControlPlane();
    return {
      kubeConfig,
      addNode: async (name: string, options?: Parameters<typeof addNode>[2]) => {
        await addNode(kubeConfig, name, options);
      },
      removeNode: (name: string) => removeNode(kubeConfig, name),
      compact,
      close,
    };
  };
  clusterAdapterContract('a real API server', start);

  describe('when the API server itself', () => {
    let plane: ControlPlane;
    beforeAll(async () => {
      plane = await startControlPlane();
    }, 600_000);
    afterAll(() => plane?.close());

    test('is asked for objects by their path, it says of each problem which it is', async () => {
      const own = kubeTransport(plane.kubeConfig);
      const nobodys = kubeTransport(plane.as('nobody'));
      const objects = kubeObjects(own);
      const nobody = kubeObjects(nobodys);
      const patient = () => AbortSignal.timeout(60_000);
      const folder = '/api/v1/namespaces/default/configmaps';
      const settings = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', labels: { of: 'us' } },
      };
      try {
        expect(await objects.get(`${folder}/one`, patient())).toBeUndefined();
        const made = await objects.ensure(`${folder}/one`, settings, patient());
        expect(await objects.ensure(`${folder}/one`, settings, patient())).toEqual(made);
        expect(await objects.list(folder, 'of=us', patient())).toHaveLength(1);
        await objects.patch(`${folder}/one`, { data: { size: 'large' } }, patient());
        expect(await objects.get(`${folder}/one`, patient())).toMatchObject({ data: { size: 'large' } });
        await expect(
          objects.patch(`${folder}/one`, { data: { 'no key': 'canary' } }, patient()),
        ).rejects.toMatchObject({ code: 'config', message: expect.stringMatching(/^(?!.*canary).*data\[/) });
        await expect(
          objects.get('/apis/authentication.liqo.io/v1beta1/namespaces/default/resourceslices/x', patient()),
        ).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('is Liqo installed?') });
        await expect(nobody.get(`${folder}/one`, patient())).rejects.toMatchObject({
          code: 'refused',
          message: expect.stringContaining('cannot get resource "configmaps"'),
        });
        expect(await objects.remove(`${folder}/one`, patient())).toBe(true);
        expect(await objects.remove(`${folder}/one`, patient())).toBe(false);
      } finally {
        own.close();
        nobodys.close();
      }
    }, 120_000);

    test('fault 29: is killed and started again → unavailable in between, then as it was', async () => {
      const { kubeConfig, apiServer } = plane;
      const cluster = closing(
        createKubeCluster({
          transport: kubeTransport(kubeConfig),
          clock: fastClock(10),
          log: createLog({ level: 'silent', format: 'json' }),
        }),
      );
      const seen = async () => (await cluster.view()).nodes.map(({ name }) => name).sort();
      await addNode(kubeConfig, 'kept');
      await eventually(async () => expect(await seen()).toEqual(['kept']));
      await apiServer.kill();
      await eventually(() => expectUnavailable(cluster.view()));
      await expectUnavailable(cluster.node('kept'));
      await apiServer.restart();
      await eventually(async () => expect(await seen()).toEqual(['kept']), 60_000);
      await addNode(kubeConfig, 'added');
      await kubeConfig.makeApiClient(CoreV1Api).deleteNode({ name: 'kept' });
      await eventually(async () => expect(await seen()).toEqual(['added']), 60_000);
    });

    test('fault 29: stands still → reads end in time, unavailable until it goes on', async () => {
      const { kubeConfig, apiServer } = plane;
      const cluster = createKubeCluster({
        transport: kubeTransport(kubeConfig),
        clock: fastClock(10),
        log: createLog({ level: 'silent', format: 'json' }),
      });
      try {
        await addNode(kubeConfig, 'standing');
        const seen = async () => (await cluster.view()).nodes.map(({ name }) => name);
        await eventually(async () => expect(await seen()).toContain('standing'));
        apiServer.stop();
        await expectUnavailable(cluster.node('standing'));
        await eventually(() => expectUnavailable(cluster.view()), 60_000);
      } finally {
        apiServer.cont();
        cluster.close();
      }
      await eventually(async () => {
        await kubeConfig.makeApiClient(CoreV1Api).readNode({ name: 'standing' });
      }, 60_000);
    });
  });
});
