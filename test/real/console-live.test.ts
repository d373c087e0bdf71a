import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { launchBrowser, openPage } from './console/browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './console/world.ts';

const ownToken = 'may-act-0123456789abcdef';
const readToken = 'may-look-0123456789abcdef';

/** Every state that the page of a machine shows from now on. */
const rememberStates = `{
  const look = () => {
    const state = document.querySelector('h1 .state')?.textContent;
    if (state && globalThis.seenStates.at(-1) !== state) globalThis.seenStates.push(state);
  };
  globalThis.seenStates = [];
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}`;

describeWith(['chromium'], 'the console while things happen, in Chromium', () => {
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    world = await startConsoleWorld((folder) => {
      const files = { token: join(folder, 'token'), read: join(folder, 'read-token') };
      writeFileSync(files.token, ownToken);
      writeFileSync(files.read, readToken);
      return ['--token-file', files.token, '--read-token-file', files.read];
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const typeToken = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel(/wants a token/).fill(token);
    await page.getByRole('button', { name: 'Use it in this tab' }).click();
  };
  const act = async (page: Page, title: string, name: string): Promise<void> => {
    await page.getByRole('button', { name: title, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const yes = dialog.getByRole('button', { name: 'Do it' });
    await dialog.getByRole('textbox').fill(`${name}x`);
    expect(await yes.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill(name);
    await yes.click();
  };
  const stateOf = (page: Page) => page.locator('h1 .state');

  test('it asks for the token once; a wrong one is asked for again', async () => {
    const { page } = await openPage(browser);
    await page.goto(world.url());
    await typeToken(page, 'wrong');
    await page.getByLabel(/wants a token/).waitFor();
    await typeToken(page, ownToken);
    await page.locator('.unit').first().waitFor();
    await page.reload();
    await page.locator('.unit').first().waitFor();
    expect(await page.getByLabel(/wants a token/).count()).toBe(0);
    await page.context().close();
  });

  test('who may only look is told so when they press a button', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/mini-2`);
    await typeToken(page, readToken);
    await act(page, 'Power on', 'mini-2');
    await page.locator('.actions .problem').waitFor();
    expect(await stateOf(page).textContent()).toBe('off');
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
    await page.evaluate(rememberStates);
    await act(page, 'Power on', 'mini-1');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('ready'), 90_000);
    // Kept in the page, so that a reload on the way would have lost them.
    const seen = (await page.evaluate('globalThis.seenStates')) as string[];
    expect([seen[0], seen.at(-1)]).toEqual(['off', 'ready']);
    expect(seen.some((state) => state === 'powering-on' || state === 'joining')).toBe(true);
    await other.page.locator('.unit[data-state="ready"]').filter({ hasText: 'mini-1' }).waitFor();
    await page.getByText('the console asked for it').first().waitFor();
    await shoot('machine-after-power-on');
    // The 401 that made it ask for the token is in the console of every browser.
    expect(errors.filter((error) => !error.includes('401'))).toEqual([]);
    await Promise.all([page.context().close(), other.page.context().close()]);
  });

  test('into maintenance and back, with the keyboard alone', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/tower-1`);
    await typeToken(page, ownToken);
    const press = async (title: string) => {
      await page.getByRole('button', { name: title }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.getByRole('dialog').getByRole('textbox').focus();
      await page.keyboard.type('tower-1');
      await page.keyboard.press('Enter');
    };
    await press('Take into maintenance');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('maintenance'), 60_000);
    await press('Give back from maintenance');
    await eventually(async () => expect(await stateOf(page).textContent()).toBe('off'), 60_000);
    await page.getByRole('button', { name: 'Power on' }).click();
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    await page.context().close();
  });

  test('the host goes: a banner says so; it comes back: the console is live again by itself', async () => {
    const { page, shoot } = await openPage(browser);
    await page.goto(world.url());
    await typeToken(page, ownToken);
    await page.locator('.link[data-link="live"]').waitFor();
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
