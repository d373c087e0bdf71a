import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { labConfig } from '../../simulator/lab/config.ts';
import { type Lab, startLab } from '../../simulator/lab/lab.ts';
import { makeMachines } from '../../simulator/lab/rack/description.ts';
import { newFolder } from '../support/cleanup.ts';
import { runBamel } from './run-bamel.ts';

/** The Kubernetes client takes its time to load on a busy machine. */
const bamel = (args: readonly string[]) => runBamel(args, {}, 90_000);

const folder = newFolder();
let lab: Lab;
let flags: string[];
beforeAll(async () => {
  lab = await startLab({ machines: makeMachines(2, { cpu: 4, pool: 'rack' }) });
  const url = `embedded:${join(folder, 'store.db')}`;
  const store = await openStore(url);
  await loadInventory(store, labConfig(lab.inventory(), { pools: [{ name: 'rack' }] }));
  await store.close();
  await writeFile(join(folder, 'kubeconfig'), lab.kubeconfig);
  flags = ['--store', url, '--kubeconfig', join(folder, 'kubeconfig')];
});
afterAll(async () => {
  await lab.stop();
});

const deployment = (cpu: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  template:
    spec:
      containers: [{name: web, image: none, resources: {requests: {cpu: "${cpu}"}}}]
`;

test('simulate says what would be done, and does nothing', async () => {
  await writeFile(join(folder, 'pods.yaml'), deployment('64'));
  const { code, stdout } = await bamel(['simulate', '-f', join(folder, 'pods.yaml'), ...flags]);
  expect(stdout).toMatch(/^With 3 more pods:\n.*no machine for 3 pods/);
  expect(stdout).toMatch(/shop\/web-0 and 2 like it: 0 of 2 machines can run it/);
  expect(code).toBe(0);
  const [machine] = lab.machines.values();
  expect(machine?.machine.commands).toEqual([]);
});

test('explain tells of a machine, and what is not there', async () => {
  const name = [...lab.machines.keys()][0] ?? '';
  const told = await bamel(['explain', 'machine', name, ...flags]);
  expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining(`${name} of pool rack is off`) });
  expect(await bamel(['explain', 'pod', 'shop/none', ...flags])).toMatchObject({
    code: 1,
    stdout: 'There is no pod shop/none.\n',
  });
  expect(await bamel(['explain', 'decision', 'd-0', ...flags])).toMatchObject({
    code: 1,
    stdout: 'There is no decision d-0: only the last ones are kept.\n',
  });
  expect(await bamel(['explain', 'weather', ...flags])).toMatchObject({ code: 2 });
  expect(await bamel(['simulate', ...flags])).toMatchObject({ code: 2 });
});
