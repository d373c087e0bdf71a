import type { Browser } from 'playwright-core';
import { launchBrowser, openPage } from '../../../tools/support/browser.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type FakeHost, startFakeHost } from './fake-host.ts';
import { hostileAnswer, markup } from './hostile.ts';

describeWith(['chromium'], 'names and messages full of markup, in Chromium', () => {
  let browser: Browser;
  let host: FakeHost;
  beforeAll(async () => {
    host = await startFakeHost(hostileAnswer);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await host?.close();
  });

  const name = encodeURIComponent(markup);
  test.each([
    'racks',
    'pools',
    'timeline',
    'decisions',
    `decisions/${name}`,
    'pods',
    'energy',
    `machines/${name}`,
  ])('#/%s shows them as text', async (place) => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${host.url}/#/${place}`);
    await page.locator('#content').getByText('<img src=x', { exact: false }).first().waitFor();
    expect(await page.locator('#app img, #app script, #app [onerror]').count()).toBe(0);
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('the page itself would not run a script that got in', async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(host.url);
    await page.locator('.unit').first().waitFor();
    const put = page.evaluate(
      'document.querySelector("#app").innerHTML = "<img src=x onerror=globalThis.pwned=1>"',
    );
    await expect(put).rejects.toThrow(/Trusted/);
    const handler = page.evaluate(
      'document.body.appendChild(document.createElement("b")).setAttribute("onclick", "globalThis.pwned=1")',
    );
    await expect(handler).rejects.toThrow(/Trusted/);
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(errors.join()).toMatch(/Content Security Policy|TrustedHTML/);
    await page.context().close();
  });
});
