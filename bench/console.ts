import type { CDPSession, Page } from 'playwright-core';
import { launchBrowser, openPage } from '../tools/support/browser.ts';
import { findProgram } from '../tools/support/programs.ts';
import { type ConsoleHost, startConsoleHost } from '../tools/worlds/console-store.ts';
import type { Table } from './table.ts';

const machines = 1_000;
const eventsEach = 10;
/** Ten machines change four times a second, for this long. BENCH_MINUTES=10 is the long run. */
const minutes = Number(process.env.BENCH_MINUTES ?? '0.5');

/** The console in Chromium on a full store: how soon it is there, how it reacts, and what it holds on to. */
export async function benchConsole(): Promise<Table> {
  if (!findProgram('chromium'))
    return { columns: ['console'], rows: [], notes: ['Skipped: chromium is not installed.'] };
  await using cleanup = new AsyncDisposableStack();
  const host = await startConsoleHost({ machines, eventsEach });
  cleanup.defer(() => host.close());
  const browser = await launchBrowser();
  cleanup.defer(() => browser.close());
  // The first look makes the bundle; a host that was built has it.
  await (await fetch(host.url)).text();

  const { page } = await openPage(browser);
  const loaded = performance.now();
  await page.goto(host.url);
  await page.locator('.unit').first().waitFor();
  const firstUnit = performance.now() - loaded;
  const paint = Number(
    await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0'),
  );
  const typed = await timed(page, 'node-777', () => page.getByRole('searchbox').fill('node-777'));
  await page.getByRole('searchbox').fill('');
  const opened = await timed(page, 'Power, from the BMC', () => page.goto(`${host.url}/#/machines/node-777`));
  const timeline = await timed(page, 'holds', () => page.goto(`${host.url}/#/timeline`));
  const frames = await scroll(page);
  const rows = await page.locator('.rows > li').count();
  await page.goto(`${host.url}/#/racks`);
  await page.locator('.unit').first().waitFor();
  const lag = await reaction(page, host);
  const heap = await follow(page, host);

  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return {
    columns: [`${machines} machines, ${machines * eventsEach} events`, ''],
    rows: [
      ['first contentful paint', ms(paint)],
      ['every machine drawn', ms(firstUnit)],
      ['a name typed until the racks show it alone', ms(typed)],
      ['to the page of a machine', ms(opened)],
      ['to the timeline', ms(timeline)],
      ['scrolling it to its end: median frame', ms(frames.median)],
      ['scrolling it to its end: longest frame', ms(frames.longest)],
      ['rows of it in the page at once', String(rows)],
      ['from a change in the store to the screen: median', ms(lag)],
      ...heap.map(({ at, bytes }): [string, string] => [
        `heap after ${at.toFixed(1)} min of updates`,
        `${(bytes / 1e6).toFixed(1)} MB`,
      ]),
    ],
    notes: [
      'Chromium without a GPU, the host in the same process as this benchmark; heap after a collection.',
      'Of a reaction, 200 ms are the host gathering what else changes.',
      `Updates: 10 machines every 250 ms for ${minutes} min; BENCH_MINUTES=10 makes it ten.`,
    ],
  };
}

async function timed(page: Page, text: string, act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  await page.getByText(text).first().waitFor();
  return performance.now() - begun;
}

/** Wheels through the whole list, and says how long frames took meanwhile. */
async function scroll(page: Page): Promise<{ median: number; longest: number }> {
  const frames = (await page.evaluate(`new Promise((resolve) => {
    const frames = [];
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      scrollBy(0, 400);
      if (frames.length < 300) requestAnimationFrame(step);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(step);
  })`)) as number[];
  return { median: median(frames), longest: Math.max(...frames) };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** From a change in the store to the screen, each time after a rest, so that no earlier one is taken for it. */
async function reaction(page: Page, host: ConsoleHost): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    await pause(1_000);
    const before = await page.evaluate(counts);
    const changed = performance.now();
    await host.change(10);
    // Not waitForFunction: the page's policy forbids what that is made of.
    while ((await page.evaluate(counts)) === before) {
      if (performance.now() - changed > 30_000) throw new Error('a change was not on the screen after 30 s');
      await pause(5);
    }
    times.push(performance.now() - changed);
  }
  return median(times);
}

const counts = 'document.querySelector(".tiles").innerText';

/** Lets things change, and weighs the page now and then, each time after a collection. */
async function follow(page: Page, host: ConsoleHost): Promise<{ at: number; bytes: number }[]> {
  const session = await page.context().newCDPSession(page);
  const heap = [{ at: 0, bytes: await heapOf(session) }];
  const begun = Date.now();
  // Every minute, and a short run four times.
  const marks = Math.max(4, Math.round(minutes));
  for (let mark = 1; mark <= marks; mark += 1) {
    while (Date.now() - begun < (mark * minutes * 60_000) / marks) {
      await host.change(10);
      await pause(250);
    }
    heap.push({ at: (Date.now() - begun) / 60_000, bytes: await heapOf(session) });
  }
  return heap;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Once what was asked for last has come and been drawn. */
async function heapOf(session: CDPSession): Promise<number> {
  await pause(2_000);
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}
