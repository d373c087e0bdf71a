import type { Browser } from 'playwright-core';
import type { PressureReport } from '../../../shared/schema/pressure.ts';
import { launchBrowser, openPage } from '../../../tools/support/browser.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { report } from '../../sensor/report.ts';
import { seriousFindings } from './axe.ts';
import { type ConsoleWorld, startConsoleWorld } from './world.ts';

describeWith(['chromium'], 'the pages of the console, in Chromium', () => {
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    world = await startConsoleWorld();
    await world.people.deploy('web', 2, { cpu: '3', memory: '1Gi' });
    await world.people.deploy('huge', 1, { cpu: '30', memory: '1Gi' });
    browser = await launchBrowser();
    await eventually(async () => expect(await world.people.running('web')).toHaveLength(2), 60_000);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  /** The page, and something that it must say. */
  const pages = [
    ['racks', 'shelf-2'],
    ['pools', 'No pool can serve'],
    ['timeline', 'powering-on'],
    ['decisions', 'unmet'],
    ['decisions/latest', '30 cpu needed'],
    ['pods', 'people/huge-'],
    ['energy', 'if all machines were on'],
    ['machines/tower-1', 'Power, from the BMC'],
  ] as const;

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)(
    'every page, %s, %d wide: shown, without a serious finding or an error',
    async (colorScheme, width) => {
      const { page, errors, hosts, shoot } = await openPage(browser, {
        colorScheme,
        viewport: { width, height: 800 },
      });
      for (const [place, says] of pages) {
        await page.goto(`${world.url()}/#/${place}`);
        await page.getByText(says).first().waitFor();
        await shoot(`${place.replaceAll('/', '-')}-${colorScheme}-${width}`);
        expect([place, await seriousFindings(page)]).toEqual([place, []]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([place, Math.max(0, Number(overflow))]).toEqual([place, 0]);
      }
      expect(errors).toEqual([]);
      expect([...hosts]).toEqual([new URL(world.url()).host]);
      await page.context().close();
    },
  );

  test('a decision is explained: who was chosen, who was not, and why', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${world.url()}/#/decisions`);
    const acting = page.locator('.decision').filter({ has: page.locator('.tag.on') });
    await acting.last().getByRole('link').click();
    const chosen = page.getByRole('row').filter({ hasText: 'power-on' }).first();
    await chosen.waitFor();
    expect(await chosen.textContent()).toMatch(/holds \d of \d waiting pods?/);
    const rejected = page.getByRole('row').filter({ hasText: 'rejected' }).first();
    expect(await rejected.textContent()).toMatch(/needed/);
    await page.context().close();
  });

  test('what the node of a machine feels is on its page, and follows what its sensor tells', async () => {
    const [node = ''] = await world.people.running('web');
    const tell = async (parts: Partial<PressureReport>): Promise<void> => {
      const answer = await fetch(`${world.url()}/evaluate-scaling`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ pressure: report({ node, ...parts }) }),
      });
      expect(answer.status).toBe(200);
    };
    const { page } = await openPage(browser);
    await page.goto(`${world.url()}/#/machines/${node}`);
    await page.getByText('Node, from Kubernetes').waitFor();
    expect(await page.getByText('Pressure on its node').count()).toBe(0);
    await tell({ sequence: 1, level: 0.83 });
    await page.getByText('Pressure on its node: cpu 83 %, rising.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await tell({ sequence: 2, from: 'pressed', to: 'calm', sign: 'falling', level: 0.1 });
    await page.getByText('Pressure on its node: cpu 10 %, falling.').waitFor();
    await page.context().close();
  });

  test('a machine is found by typing, and by its state', async () => {
    const { page } = await openPage(browser);
    await page.goto(world.url());
    const units = page.locator('.unit');
    await units.first().waitFor();
    expect(await units.count()).toBe(3);
    await page.getByRole('searchbox').fill('tower');
    await eventually(async () =>
      expect(await units.allTextContents()).toEqual([expect.stringContaining('tower-1')]),
    );
    await page.getByRole('searchbox').fill('nothing-like-it');
    await page.getByText('No machine matches.').waitFor();
    await page.context().close();
  });
});
