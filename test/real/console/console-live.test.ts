import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser, openPage } from '../../../tools/support/browser.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { act, rememberStates, seenStates, stateOf, typeToken } from './hands.ts';
import { type ConsoleWorld, startConsoleWorld } from './world.ts';

const ownToken = 'may-act-0123456789abcdef';
const readToken = 'may-look-0123456789abcdef';

describeWith(['chromium'], 'the console while things happen, in Chromium', () => {
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    world = await startConsoleWorld({
      args: (folder) => {
        const files = { token: join(folder, 'token'), read: join(folder, 'read-token') };
        writeFileSync(files.token, ownToken);
        writeFileSync(files.read, readToken);
        return ['--token-file', files.token, '--read-token-file', files.read];
      },
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  test('it asks for the token once; a wrong one is asked for again', async () => {
    const { page } = await openPage(browser);
    await page.goto(world.url());
    await typeToken(page, 'wrong');
    await page.getByLabel(/requires a token/).waitFor();
    await typeToken(page, ownToken);
    await page.locator('.unit').first().waitFor();
    await page.reload();
    await page.locator('.unit').first().waitFor();
    expect(await page.getByLabel(/requires a token/).count()).toBe(0);
    await page.context().close();
  });

  test('who may only look cannot press a button, is told why, and is refused all the same', async () => {
    const { page, shoot } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/mini-2`);
    await typeToken(page, readToken);
    await page.locator('#look-only').waitFor();
    const buttons = page.locator('.actions > button');
    expect(await buttons.count()).toBeGreaterThan(1);
    for (const button of await buttons.all()) expect(await button.isDisabled()).toBe(true);
    await shoot('may-only-look');
    const forged = await page.evaluate(`fetch('./power-action', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ${readToken}' },
      body: JSON.stringify({ machine: 'mini-2', power: 'on' }),
    }).then((response) => response.status)`);
    expect([forged, await stateOf(page).textContent()]).toEqual([403, 'off']);
    await page.getByRole('button', { name: 'Use another one' }).click();
    await typeToken(page, ownToken);
    await eventually(async () => expect(await buttons.first().isDisabled()).toBe(false), 60_000);
    await page.context().close();
  });

  test('a machine is powered on by its button, and seen changing without a reload, in another tab as well', async () => {
    const { page, errors, shoot } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/mini-1`);
    await typeToken(page, ownToken);
    const other = await openPage(browser);
    await other.page.goto(world.url());
    await typeToken(other.page, ownToken);
    await stateOf(page).waitFor();
    await rememberStates(page);
    await act(page, 'Power on', 'mini-1');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('ready'), 90_000);
    // Kept in the page, so that a reload on the way would have lost them.
    const seen = await seenStates(page);
    expect([seen[0], seen.at(-1)]).toEqual(['off', 'ready']);
    expect(seen.some((state) => state === 'powering-on' || state === 'joining')).toBe(true);
    await other.page.locator('.unit[data-state="ready"]').filter({ hasText: 'mini-1' }).waitFor();
    await page.getByText('the console asked for it').first().waitFor();
    await shoot('machine-after-power-on');
    // The 401 that made it ask for the token is in the console of every browser.
    expect(errors.filter((error) => !error.includes('401'))).toEqual([]);
    await Promise.all([page.context().close(), other.page.context().close()]);
  });

  test('a drain is begun and called off; one that is cut goes off; one in quarantine is retried', async () => {
    const { page, errors, shoot } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/mini-1`);
    await typeToken(page, ownToken);
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('ready'), 60_000);
    // Held by a budget that never gives way, so that there is a drain to be called off.
    await world.people.deploy(
      'held',
      1,
      { cpu: '1' },
      { nodeSelector: { 'kubernetes.io/hostname': 'mini-1' } },
    );
    await world.people.protect('held');
    await eventually(async () => expect(await world.people.running('held')).toEqual(['mini-1']), 60_000);
    await rememberStates(page);
    await act(page, 'Drain and power off', 'mini-1');
    await page.getByText(/1 of 1 pod left/).waitFor();
    await shoot('machine-draining');
    await act(page, 'Cancel the drain', 'mini-1');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('ready'), 60_000);
    expect(await seenStates(page)).toEqual(['ready', 'draining', 'ready']);
    await page.getByText('the console called it off').first().waitFor();

    await world.people.scale('held', 0);
    await act(page, 'Cut the power', 'mini-1', { tick: 'even if it is the last machine that serves' });
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('off'), 90_000);
    expect(await seenStates(page)).toContain('powering-off');
    const { commands } = world.lab.machines.get('mini-1')?.machine ?? { commands: [] };
    expect(commands.at(-1)?.verb).not.toBe('On');

    const bmc = world.lab.machines.get('mini-2')?.machine;
    bmc?.faults.set({ fault: 'wrong-credentials' });
    await page.goto(`${world.url()}/#/machines/mini-2`);
    await act(page, 'Power on', 'mini-2');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('error'), 90_000);
    await page.getByText('refuses the credentials').waitFor();
    await shoot('machine-refused');
    await act(page, 'Retry now', 'mini-2');
    await page.getByText('mini-2 is looked at anew with the next tick').waitFor();
    await page.getByText('the console dealt with it').first().waitFor();
    await eventually(async () =>
      expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0),
    );
    expect(errors.filter((error) => !error.includes('401'))).toEqual([]);
    await page.context().close();
  });

  test('into maintenance and back, with the keyboard alone', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/tower-1`);
    await typeToken(page, ownToken);
    const press = async (title: string) => {
      await page.getByRole('button', { name: title }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    };
    await press('Start maintenance');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('maintenance'), 60_000);
    await press('End maintenance');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('off'), 60_000);
    // What the click began, and nothing of what comes with the next frame.
    const isAtOnce = page.evaluate(`(async () => {
      [...document.querySelectorAll('.actions > button')].find((one) => one.textContent === 'Power on').click();
      await new Promise((resolve) => queueMicrotask(resolve));
      return document.querySelector('dialog')?.open;
    })()`);
    expect(await isAtOnce).toBe(true);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    await page.context().close();
  });

  test('a proxy answers for a host that is away: what was known stays, and it says why', async () => {
    const { page, shoot } = await openPage(browser);
    await page.goto(world.url());
    await typeToken(page, ownToken);
    await eventually(async () => expect(await page.locator('.unit').count()).toBe(3));
    await page.route('**/api/**', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }));
    await page.locator('main').getByText('Bad Gateway').first().waitFor();
    await shoot('proxy-answers');
    expect(await page.locator('.unit').count()).toBe(3);
    await page.unroute('**/api/**');
    // By itself, though nothing has changed in the store that would be announced.
    await eventually(async () => expect(await page.getByText('Bad Gateway').count()).toBe(0), 60_000);
    // What the host itself says is not there goes.
    await page.route('**/api/machines?*', (route) => route.fulfill({ status: 404, json: { error: 'gone' } }));
    await page.locator('main').getByText('gone').waitFor();
    expect(await page.locator('.unit').count()).toBe(0);
    await page.getByRole('alert').getByRole('link').waitFor();
    await page.context().close();
  });

  test('the host goes: a banner says so; it comes back: the console is live again by itself', async () => {
    const { page, shoot } = await openPage(browser);
    await page.goto(world.url());
    await typeToken(page, ownToken);
    await page.locator('.link[data-link="live"]').waitFor();
    await eventually(async () => expect(await page.locator('.unit').count()).toBe(3));
    await page.evaluate('globalThis.sameDocument = true');
    await world.stopHost();
    await page.getByText(/No connection/).waitFor();
    await shoot('host-away');
    expect(await page.locator('.unit').count()).toBe(3);
    await world.startHost();
    await page.locator('.link[data-link="live"]').waitFor();
    await eventually(async () => expect(await page.getByText(/No connection/).count()).toBe(0));
    expect(await page.evaluate('globalThis.sameDocument')).toBe(true);
    await page.context().close();
  });
});
