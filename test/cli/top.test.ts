import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { PressureReport } from '../../shared/schema/pressure.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { recordPressure } from '../../shared/state/pressure.ts';
import { newFolder } from '../support/cleanup.ts';

let folder: string;

test('top tells of pressure where a sensor does, and has no column for it elsewhere', async () => {
  folder = newFolder();
  const url = `embedded:${join(folder, 'store.db')}`;
  const write = async (work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) => {
    const store = await openStore(url);
    await work(store);
    await store.close();
  };
  const top = async (): Promise<string> => {
    const stdout = new PassThrough();
    expect(await runCli(['top', '--store', url], { stdout, stderr: new PassThrough(), env: {} })).toBe(0);
    return String(stdout.read());
  };
  const status = {
    v: 1,
    state: 'ready',
    stateSince: 1,
    powerState: 'on',
    attempts: 0,
    kubernetesNode: 'n-1',
  };
  await write(async (store) => {
    await loadInventory(store, {
      schemaVersion: 'v1alpha1',
      pools: [{ name: 'rack' }],
      machines: ['m-1', 'm-2'].map((name) => ({
        name,
        pool: 'rack',
        powerInterface: 'redfish',
        mgmtAddress: `https://${name}.example`,
        resources: { cpu: 4, memory: '16Gi' },
      })),
    });
    await store.commit([], [{ put: '/baremetal/nodes/m-1/status', value: JSON.stringify(status) }]);
  });
  expect(await top()).not.toContain('PRESSURE');
  const report: PressureReport = {
    node: 'n-1',
    category: 'memory',
    from: 'calm',
    to: 'pressed',
    sign: 'rising',
    level: 0.42,
    share: 0.3,
    baseline: 0,
    ratePerSecond: 0,
    windowMs: 10_000,
    signal: 'psi',
    pods: [],
    unattributed: 1,
    sequence: 1,
  };
  await write((store) => recordPressure(store, [report], Date.now()));
  const lines = (await top()).split('\n');
  expect(lines[0]).toMatch(/ PRESSURE$/);
  expect(lines.find((line) => line.startsWith('m-1 '))).toMatch(/ memory 42% rising$/);
  expect(lines.find((line) => line.startsWith('m-2 '))).toMatch(/ –$/);
});
