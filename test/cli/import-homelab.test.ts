import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { newFolder } from '../support/cleanup.ts';
import { runBamel } from './run-bamel.ts';

const resources = `
apiVersion: infra.homecluster.dev/v1alpha1
kind: Group
metadata: {name: workers, namespace: homelab-autoscaler-system}
spec:
  name: workers
  maxSize: 5
  nodeSelector: {node-type: worker}
  scaleDownUtilizationThreshold: 0.5
  maxNodeProvisionTime: 12m
---
apiVersion: infra.homecluster.dev/v1alpha1
kind: Node
metadata: {name: worker-01, labels: {node-type: worker}}
spec:
  powerState: on
  kubernetesNodeName: worker-01
  startupPodSpec: {image: example/wol, command: [wake], args: ["00:11"]}
  shutdownPodSpec:
    image: example/ssh
    serviceAccount: power
    volumes: [{name: keys, mountPath: /root/.ssh, secretName: ssh-keys}]
  pricing: {hourlyRate: 0.05, podRate: 0.001}
`;

const folder = newFolder();

test('Groups and Nodes of homelab-autoscaler become pools and machines', async () => {
  const file = join(folder, 'homelab.yaml');
  const store = `embedded:${join(folder, 'store.db')}`;
  writeFileSync(file, resources);
  const args = [
    'import',
    'homelab-autoscaler',
    '-f',
    file,
    '--cpu',
    '8',
    '--memory',
    '32Gi',
    '--store',
    store,
  ];
  const { code, stderr } = await runBamel(args);
  expect([code, stderr]).toEqual([0, expect.stringContaining('imported 1 machines')]);
  const opened = await openStore(store);
  const inventory = createInventory(opened, realClock);
  const [pool] = await inventory.pools();
  expect(pool).toMatchObject({
    name: 'workers',
    managedBy: 'clusterAutoscaler',
    limits: { maxNodes: 5 },
    provisionTimeoutMs: 720_000,
  });
  const record = await inventory.machine('worker-01');
  expect(record?.spec).toMatchObject({
    pool: 'workers',
    powerInterface: 'job',
    resources: { cpu: 8_000, memory: 32 * 2 ** 30 },
    pricing: { hourlyRate: 0.05, podRate: 0.001 },
    options: {
      startup: { spec: { containers: [{ image: 'example/wol', command: ['wake'], args: ['00:11'] }] } },
      shutdown: {
        spec: {
          serviceAccountName: 'power',
          volumes: [{ name: 'keys', secret: { secretName: 'ssh-keys' } }],
        },
      },
    },
  });
  expect(record?.spec.powerState).toBeUndefined();
  await opened.close();
});

test('a Node without its Group is refused, and nothing is written', async () => {
  const file = join(folder, 'alone.yaml');
  writeFileSync(file, resources.split('---')[1] ?? '');
  const store = `embedded:${join(folder, 'other.db')}`;
  const { code, stderr } = await runBamel(['import', 'homelab-autoscaler', '-f', file, '--store', store]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('worker-01 is in no Group')]);
});
