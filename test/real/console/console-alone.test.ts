import type { Browser } from 'playwright-core';
import { type Etcd, startEtcd } from '../../../tools/real-stack/etcd.ts';
import { type RunningFunction, startFunction } from '../../../tools/real-stack/knative/knative-functions.ts';
import { freePorts } from '../../../tools/real-stack/ports.ts';
import { launchBrowser, openPage } from '../../../tools/support/browser.ts';
import { type BuiltFolder, buildFolder } from '../../../tools/support/build-folder.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { act, rememberStates, seenStates, stateOf } from './hands.ts';
import { type ConsoleWorld, startConsoleWorld } from './world.ts';

describeWith(['etcd', 'chromium'], 'the console in a process of its own, the functions in another', () => {
  let built: BuiltFolder;
  let etcd: Etcd;
  let world: ConsoleWorld;
  let served: RunningFunction;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    built = await buildFolder();
    etcd = await startEtcd();
    const store = `etcd://${new URL(etcd.endpoints[0] ?? '').host}`;
    world = await startConsoleWorld({ store });
    const [port = 0] = await freePorts(1);
    // What a container has that powers nothing: no description of machines, no credentials.
    const env = { KUBECONFIG: world.files.kubeconfig };
    served = await startFunction('console', { program: built.program('function'), port, store, env });
    url = `http://127.0.0.1:${port}`;
    browser = await launchBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await served?.remove();
    await world?.close();
    await etcd?.close();
    await built?.remove();
  });

  test('its API says what the host says', async () => {
    const list = async (of: string) => {
      const { items } = (await (await fetch(`${of}/api/machines`)).json()) as {
        items: { name: string; pool: string }[];
      };
      return items.map(({ name, pool }) => [name, pool]);
    };
    expect(await list(url)).toEqual(await list(world.url()));
    const about = (await (await fetch(`${url}/api/about`)).json()) as object;
    expect(about).toMatchObject({ cluster: true, may: 'act' });
  });

  test('a button pressed there moves a machine that the other process powers, seen live', async () => {
    const { page, errors, hosts } = await openPage(browser);
    await page.goto(`${url}/#/machines/mini-2`);
    await stateOf(page).waitFor();
    await rememberStates(page);
    await act(page, 'Power on', 'mini-2');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('ready'), 90_000);
    const seen = await seenStates(page);
    expect([seen[0], seen.at(-1)]).toEqual(['off', 'ready']);
    expect(seen.some((state) => state === 'powering-on' || state === 'joining')).toBe(true);
    const commands = world.lab.machines.get('mini-2')?.machine.commands ?? [];
    expect(commands.map(({ verb }) => verb)).toEqual(['On']);
    expect(errors).toEqual([]);
    expect([...hosts]).toEqual([new URL(url).host]);
    await page.context().close();
  });

  test('what it is not asked for in so many words it leaves to the others', async () => {
    const answer = await fetch(`${url}/power-action`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { error: expect.stringContaining('runs elsewhere') },
    ]);
  });
});
