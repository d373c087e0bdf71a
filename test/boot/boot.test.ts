import { bootRoute } from '../../apps/boot/route.ts';
import { checkConfig } from '../../shared/adapters/files/config-file.ts';
import { normalMac, renderScript, scriptProblem } from '../../shared/core/machine/boot.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { machineProblem } from '../../shared/drivers/check-options.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { parseConfig } from '../../shared/schema/config-file.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';
import { machine } from '../core/support/builders.ts';
import { startWorld, type World } from '../power-action/harness.ts';

const script = '#!ipxe\nkernel http://boot.example/vmlinuz hostname={{name}} mac={{ macAddress }}\nboot\n';
const mac = '52:54:00:12:34:56';

describe('a boot script', () => {
  const spec = (parts: Partial<MachineSpec>): MachineSpec => machine('m-1', { spec: parts }).spec;

  test('is filled from the inventory', () => {
    const rendered = renderScript(script, spec({ macAddress: mac }));
    expect(rendered).toEqual({
      ok: true,
      text: `#!ipxe\nkernel http://boot.example/vmlinuz hostname=m-1 mac=${mac}\nboot\n`,
    });
  });

  test.each([
    ['a line end', 'a\nboot evil'],
    ['a blank', 'a init=/bin/sh'],
    ['an iPXE setting', '$'.concat('{net0/password}')],
    ['another placeholder', '{{pool}}'],
  ])('takes no value with %s in it', (_what, rack) => {
    expect(renderScript('echo {{rack}}', spec({ rack }))).toMatchObject({ ok: false });
  });

  test('says what is missing, and what is not known', () => {
    expect(renderScript('{{zone}}', spec({}))).toMatchObject({
      ok: false,
      why: expect.stringContaining('zone'),
    });
    expect(scriptProblem('{{bmcCredentials}}')).toContain('{{bmcCredentials}} is not known');
    expect(scriptProblem(script)).toBeUndefined();
  });
});

test('MAC addresses are the same however they are written', () => {
  for (const text of [mac, '52-54-00-12-34-56', '525400123456', mac.toUpperCase()])
    expect(normalMac(text)).toBe(mac);
  for (const text of ['', '52:54:00:12:34', '../../etc/passwd', `${mac}:00`])
    expect(normalMac(text)).toBeUndefined();
});

describe('in the config', () => {
  const config = (profile: string, text: string): string =>
    JSON.stringify({
      schemaVersion: 'v1alpha1',
      autoscaler: { bootProfiles: { worker: text } },
      pools: [{ name: 'rack' }],
      machines: [
        {
          name: 'm-1',
          pool: 'rack',
          powerInterface: 'redfish',
          bootProfile: profile,
          resources: { cpu: 1, memory: 1 },
        },
      ],
    });

  test('a profile must be there, and name only what it may', () => {
    expect(() => parseConfig(config('worker', script), 'f')).not.toThrow();
    expect(() => parseConfig(config('workr', script), 'f')).toThrow(
      /no boot profile workr .*there are worker/,
    );
    expect(() => parseConfig(config('worker', '{{password}}'), 'f')).toThrow(/\{\{password\}\} is not known/);
  });
});

test('a machine that cannot be told to boot from the network has no boot profile', async () => {
  const text = (powerInterface: string, more: object): string =>
    JSON.stringify({
      schemaVersion: 'v1alpha1',
      autoscaler: { bootProfiles: { worker: script } },
      pools: [{ name: 'rack' }],
      machines: [
        {
          name: 'm-1',
          pool: 'rack',
          powerInterface,
          bootProfile: 'worker',
          macAddress: mac,
          resources: { cpu: 1, memory: 1 },
          ...more,
        },
      ],
    });
  await expect(
    checkConfig(text('redfish', { mgmtAddress: 'https://10.0.0.5' }), 'f', machineProblem),
  ).resolves.toBeDefined();
  await expect(
    checkConfig(text('wol', { wol: { broadcast: '10.0.0.255' } }), 'f', machineProblem),
  ).rejects.toThrow(
    /m-1: bootProfile worker needs a machine that can be told to boot from the network, and wol cannot/,
  );
});

describe('GET /boot/<mac>', () => {
  let world: World;
  let served: RunningServer;
  beforeEach(async () => {
    world = await startWorld({
      machines: [
        { name: 'm-1', macAddress: mac.toUpperCase(), bootProfile: 'worker' },
        { name: 'm-2', macAddress: '52:54:00:12:34:57' },
        { name: 'm-3', macAddress: '52:54:00:12:34:58', bootProfile: 'racked', rack: 'two words' },
      ],
      autoscaler: { bootProfiles: { worker: script, racked: '{{rack}}' } },
    });
    const { deps } = world.process();
    served = await serve([], {
      host: '127.0.0.1',
      port: 0,
      // Firmware has no token.
      token: async () => 'secret',
      log: deps.log,
      metrics: createMetrics(),
      routes: [bootRoute(deps)],
    });
  });
  afterEach(async () => {
    await served.close();
    await world.close();
  });
  const get = (path: string): Promise<Response> => fetch(`${served.url}/boot/${path}`);

  test('answers with the script, and notes that the machine asked', async () => {
    const process = world.process();
    await process.tick();
    const operation = await world.begin('m-1', 'on');
    const answer = await get('52-54-00-12-34-56?x=1');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await answer.text()).toContain(`hostname=m-1 mac=${mac.toUpperCase()}`);
    const found = await process.deps.inventory.operation(operation);
    expect(found?.operation.progress?.map(({ what }) => what)).toEqual(['asked for its boot script']);
  });

  test.each([
    ['an unknown address', '00:00:00:00:00:00', 404],
    ['a machine without a profile', '52:54:00:12:34:57', 404],
    ['a value that no script may have', '52:54:00:12:34:58', 409],
    ['no address at all', 'x', 400],
    ['a malformed escape', '%zz', 400],
  ])('%s', async (_what, path, status) => {
    expect((await get(path)).status).toBe(status);
  });
});
