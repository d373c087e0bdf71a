import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freeName, nameOf } from '../../cli/commands/discover.ts';
import { MachineSpec } from '../../shared/schema/machine.ts';
import { type Rack, startRack } from '../../simulator/lab/rack/rack.ts';
import { newFolder } from '../support/cleanup.ts';
import { runBamel } from './run-bamel.ts';

let rack: Rack;
let folder: string;
beforeAll(async () => {
  rack = await startRack([{ name: 'tower', cpu: 16, memory: '64Gi', gpu: 2 }]);
  folder = newFolder();
  await mkdir(join(folder, 'bmc'));
  const { user, password } = lab().machine.description.credentials;
  await writeFile(join(folder, 'bmc', 'username'), user);
  await writeFile(join(folder, 'bmc', 'password'), password);
});
afterAll(async () => {
  await rack.close();
});
function lab() {
  const found = rack.machines.get('tower');
  if (!found) throw new Error('no machine');
  return found;
}
const discover = (...args: string[]) =>
  runBamel(['discover', ...args], { BAMEL_CREDENTIALS_DIR: folder, BAMEL_ALLOWED_NETWORKS: '127.0.0.0/8' });

test('prints an inventory entry that loads as it is', async () => {
  const { machine, bmc } = lab();
  const { stdout, stderr, code } = await discover(bmc.url, '--credentials', 'bmc', '--pool', 'closet');
  expect([stderr, code]).toEqual(['', 0]);
  const [entry] = parse(stdout);
  expect(entry).toMatchObject({
    name: 'm-127-0-0-1',
    pool: 'closet',
    powerInterface: 'redfish',
    mgmtAddress: bmc.url,
    bmcCredentials: 'bmc',
    systemUUID: machine.identity.systemUUID,
    serialNumber: machine.identity.serialNumber,
    macAddress: machine.identity.macAddress,
    resources: { cpu: 16, memory: '64Gi', gpu: 2 },
  });
  expect(MachineSpec.parse(entry).resources.cpu).toBe(16_000);
});

test('prints a custom resource', async () => {
  const { stdout } = await discover(lab().bmc.url, '--credentials', 'bmc', '--as', 'resource');
  expect(parse(stdout)).toMatchObject({
    apiVersion: 'bamel.dev/v1alpha1',
    kind: 'BareMetalNode',
    metadata: { name: 'm-127-0-0-1' },
    spec: { powerInterface: 'redfish', systemUUID: lab().machine.identity.systemUUID },
  });
});

test('a BMC that does not answer is told, and the others are still read', async () => {
  const { stdout, stderr, code } = await discover(
    'http://127.0.0.1:9',
    lab().bmc.url,
    '--credentials',
    'bmc',
  );
  expect(stderr).toContain('http://127.0.0.1:9: ');
  expect(stderr).toContain('cannot be reached');
  expect(parse(stdout)).toHaveLength(1);
  expect(code).toBe(1);
});

test.each([
  [[], /at which address/],
  [['https://x', '--driver', 'telepathy'], /there is no driver telepathy/],
  [['https://x', '--options', '[1]'], /--options must be an object/],
])('a mistake is told: %j', async (args, message) => {
  const { stderr, code } = await discover(...args);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test.each([
  ['https://tower-1-bmc.lan:8443', 'tower-1-bmc'],
  ['https://10.0.0.5', 'm-10-0-0-5'],
  ['ipmi://10.0.0.5:623', 'm-10-0-0-5'],
  ['10.0.0.6', 'm-10-0-0-6'],
])('%s is called %s', (address, name) => {
  expect(nameOf(address)).toBe(name);
});

test('two BMCs behind one address get names of their own', () => {
  expect(freeName(new Set(), '10.0.0.5:8001')).toBe('m-10-0-0-5');
  expect(freeName(new Set(['m-10-0-0-5', 'm-10-0-0-5-2']), '10.0.0.5:8002')).toBe('m-10-0-0-5-3');
});
