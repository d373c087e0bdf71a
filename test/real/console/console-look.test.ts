import type { Browser, Page } from 'playwright-core';
import { launchBrowser, openPage } from '../../../tools/support/browser.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type ConsoleHost, startConsoleHost } from '../../../tools/worlds/console-store.ts';
import { seriousFindings } from './axe.ts';
import { layoutFindings } from './layout.ts';

const sizes = [
  [1440, 900],
  [1920, 1080],
  [390, 844],
] as const;
const schemes = ['light', 'dark'] as const;

/** The pages, with something that each has once it is drawn. */
const placesOf = async ({ url }: ConsoleHost) => {
  const list = async (path: string) =>
    ((await (await fetch(`${url}${path}`)).json()) as { items: { name: string; id: string; powerOn?: [] }[] })
      .items;
  const [machine] = await list('/api/machines');
  const acting = (await list('/api/decisions')).find(({ powerOn = [] }) => powerOn.length > 0);
  return [
    ['racks', '.unit'],
    ['pools', '.pool'],
    ['timeline', '.happening'],
    ['decisions', '.decision'],
    [`decisions/${encodeURIComponent(acting?.id ?? '')}`, '.flow'],
    ['pods', '.pod'],
    ['energy', '.meter'],
    [`machines/${encodeURIComponent(machine?.name ?? '')}`, '.observations'],
  ] as const;
};

async function drawn(page: Page, url: string, place: string, part: string): Promise<void> {
  await page.goto(`${url}/#/${place}`);
  await page.locator(part).first().waitFor();
  await page.locator('.figures b').first().waitFor();
}

describeWith(['chromium'], 'how the console looks, in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.each([16, 200, 1_000])(
    '%d machines: a picture of every page in every size and scheme',
    async (machines) => {
      const host = await startConsoleHost({ machines, eventsEach: 10 });
      try {
        for (const [width, height] of sizes)
          for (const colorScheme of schemes) {
            const { page, errors, shoot } = await openPage(browser, {
              colorScheme,
              viewport: { width, height },
            });
            for (const [place, part] of await placesOf(host)) {
              await drawn(page, host.url, place, part);
              await shoot(`${place.split('/', 2).join('-')}-${machines}-${width}-${colorScheme}`);
            }
            expect(errors).toEqual([]);
            await page.context().close();
          }
      } finally {
        await host.close();
      }
    },
    900_000,
  );

  test.each(sizes)(
    'long names at %d × %d: nothing is cut off, nothing overlaps, axe finds nothing serious',
    async (width, height) => {
      const host = await startConsoleHost({ machines: 16, eventsEach: 10, longNames: true });
      try {
        const findings: object[] = [];
        for (const colorScheme of schemes) {
          const { page } = await openPage(browser, { colorScheme, viewport: { width, height } });
          for (const [place, part] of await placesOf(host)) {
            await drawn(page, host.url, place, part);
            const { cut, over, beyond } = await layoutFindings(page);
            const serious = await seriousFindings(page);
            if (cut.length + over.length + beyond + serious.length > 0)
              findings.push({ place, colorScheme, cut, over, beyond, serious });
          }
          await page.context().close();
        }
        expect(findings).toEqual([]);
      } finally {
        await host.close();
      }
    },
    300_000,
  );
});
