import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { formatCsv, parseCsv } from '../../shared/schema/csv.ts';
import { MachineSpec } from '../../shared/schema/machine.ts';
import { machinesFromCsv, machinesToCsv } from '../../shared/schema/machine-csv.ts';
import { encode } from '../../shared/state/codec.ts';
import { importInventory, readConfigInput } from '../../shared/state/inventory-exchange.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import { fc } from '../../tools/support/seeded.ts';
import { config, machine } from '../adapters/inventory-harness.ts';
import { runBamel } from '../cli/run-bamel.ts';
import { newFolder } from '../support/cleanup.ts';

const full = machine('m-1', {
  rack: 'r "1", left',
  macAddress: '52:54:00:12:34:56',
  resources: { cpu: '3500m', memory: '16Gi', gpu: 2, customResources: { 'amd.com/gpu': 1 } },
  watts: { idle: 12.5, max: 65 },
  labels: { 'example.com/class': 'a,b\n"c"' },
  taints: [{ key: 'gpu', effect: 'NoSchedule' }],
  maintenance: true,
  systemUUID: '0012',
});

test('any table comes back from CSV as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
      expect(parseCsv(formatCsv(rows)).map(({ cells }) => cells)).toEqual(rows);
    }),
  );
});

test('machines come back from CSV as they were, and mean the same', () => {
  const machines = [full, machine('m-2', { resources: { cpu: 8, memory: '1Ti' } })];
  const text = machinesToCsv(machines);
  const back = machinesFromCsv(text, 'x.csv', ['rack']);
  expect(back.map((one) => MachineSpec.parse(one))).toEqual(machines.map((one) => MachineSpec.parse(one)));
  expect(machinesToCsv(back)).toBe(text);
});

test.each([
  ['an unknown column', 'name,pol\r\nm-1,rack\r\n', /x\.csv:1 there is no column pol; there are name, pool/],
  [
    'a bad value',
    'name,pool,powerInterface,resources.cpu,resources.memory\nm-1,rack,redfish,1,1Gi\nm-2,rack,redfish,lots,1Gi\n',
    /x\.csv:3 resources\.cpu: must be a Kubernetes quantity/,
  ],
  [
    'a missing value',
    'name,pool,powerInterface,resources.cpu\nm-1,rack,redfish,1\n',
    /x\.csv:2 resources\.memory: /,
  ],
  ['a row that is too short', 'name,pool\n"a\nb",rack\nm-2\n', /x\.csv:4 has 1 cells, the first line 2/],
  [
    'a pool that is not there',
    'name,pool\nm-1,attic\n',
    /x\.csv:2 pool: there is no pool attic; there are rack/,
  ],
  ['a name twice', 'name,pool\nm-1,rack\n\nm-1,rack\n', /x\.csv:4 name: m-1 is there twice, first in line 2/],
  ['what is not JSON', 'name,labels\nm-1,{a}\n', /x\.csv:2 labels: \{a\} is not JSON/],
])('%s is told with its line', (_, text, message) => {
  expect(() => machinesFromCsv(text, 'x.csv', ['rack'])).toThrow(message);
});

test('what is imported stays when the file is loaded; what a resource describes is not imported', async () => {
  const store = await openStore('embedded:');
  await loadInventory(store, config([machine('filed')]));
  await store.commit(
    [],
    [
      { put: keys.node('theirs', 'spec'), value: encode(machine('theirs')) },
      {
        put: keys.node('theirs', 'source'),
        value: encode({ from: 'resource', namespace: 'n', name: 'theirs', uid: 'u' }),
      },
    ],
  );
  const result = await importInventory(store, {
    machines: [machine('new'), machine('theirs', { rack: 'x' })],
  });
  expect(result).toMatchObject({ changed: 1, refused: [expect.stringContaining('the resource n/theirs')] });
  await loadInventory(store, config([machine('filed')]));
  expect((await readConfigInput(store)).machines.map(({ name, rack }) => [name, rack])).toEqual([
    ['filed', undefined],
    ['new', undefined],
    ['theirs', undefined],
  ]);
  await store.close();
});

describe('the commands', () => {
  let folder: string;
  const at = (name: string) => join(folder, name);
  const write = (name: string, text: string) => {
    writeFileSync(at(name), text);
    return at(name);
  };
  beforeEach(() => {
    folder = newFolder();
  });

  test.each(['json', 'csv'])('what is exported as %s and imported again is the same', async (format) => {
    const from = `embedded:${at('from.db')}`;
    const store = await openStore(from);
    await loadInventory(store, config([full, machine('m-2')]));
    await store.close();
    const exported = await runBamel(['export', '--format', format, '--store', from]);
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    const to = `embedded:${at('to.db')}`;
    const target = await openStore(to);
    await loadInventory(target, config([]));
    await target.close();
    const file = write(`machines.${format}`, exported.stdout);
    expect(await runBamel(['import', file, '--store', to])).toMatchObject({
      code: 0,
      stderr: 'imported 2 machines, 2 changes\n',
    });
    expect((await runBamel(['export', '--format', format, '--store', to])).stdout).toBe(exported.stdout);
  });

  test('a bad row is named by its line, nothing is imported, and the exit code is 2', async () => {
    const to = `embedded:${at('to.db')}`;
    const target = await openStore(to);
    await loadInventory(target, config([]));
    await target.close();
    const file = write(
      'machines.csv',
      'name,pool,powerInterface,resources.cpu,resources.memory\nm-1,rack,redfish,x,1Gi\n',
    );
    const { code, stderr } = await runBamel(['import', file, '--store', to]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:2 resources.cpu`)]);
    const json = write(
      'machines.json',
      JSON.stringify({ schemaVersion: 'v1alpha1', machines: [machine('m-1', { pool: 'attic' })] }),
    );
    const refused = await runBamel(['import', json, '--store', to]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `${json} machines[0].pool: there is no pool attic; there are rack\n`,
    ]);
  });

  test('validate: the samples are right', async () => {
    const samples = ['bamel.yaml', 'resources.yaml', 'kubenodesmith.yaml'].map(
      (name) => `config/samples/${name}`,
    );
    const { code, stdout, stderr } = await runBamel(['validate', ...samples]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /resources\.yaml: ok, 4 resources\n.*kubenodesmith\.yaml: ok, 2 pools and 2 machines/,
    );
  });

  test('validate: every mistake is told with its line, and the exit code is 2', async () => {
    const sample = (name: string) => readFileSync(`config/samples/${name}`, 'utf8');
    const wrong = write('a.yaml', sample('bamel.yaml').replace('powerInterface', 'powerInterfcae'));
    const resource = write(
      'b.yaml',
      sample('resources.yaml')
        .replace('maintenance:', 'maintenence:')
        .replace('maxNodes: 3', 'maxNodes: 0.5'),
    );
    const theirs = write('c.yaml', sample('kubenodesmith.yaml').replace('batchSize', 'batchsize'));
    const { code, stderr } = await runBamel(['validate', wrong, resource, theirs, at('none.yaml')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /a\.yaml:\d+:5 machines\[0\]\.powerInterfcae: unknown field\. Did you mean powerInterface\?/,
    );
    expect(stderr).toMatch(/b\.yaml:\d+:3 spec\.maintenence: unknown field\. Did you mean maintenance\?/);
    expect(stderr).toMatch(/b\.yaml:\d+:\d+ spec\.limits\.maxNodes: /);
    expect(stderr).toMatch(
      /c\.yaml:\d+:\d+ nodePools\[0\]\.scaleUp\.batchsize: unknown field\. Did you mean batchSize\?/,
    );
    expect(stderr).toMatch(/none\.yaml: cannot be read/);
  });
});
