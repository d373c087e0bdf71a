import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

const screenshots = fileURLToPath(new URL('../../coverage/console/', import.meta.url));

/** What the page said that nobody wants to read, and whom it asked. */
export interface Watched {
  readonly page: Page;
  readonly errors: string[];
  /** Hosts that anything was asked of. */
  readonly hosts: Set<string>;
  /** Kept as output of the test, in coverage/console. */
  shoot(name: string): Promise<void>;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium') ?? 'chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** A page of its own: nothing is shared with another one. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  return {
    page,
    errors,
    hosts,
    async shoot(name) {
      await mkdir(screenshots, { recursive: true });
      await page.screenshot({ path: `${screenshots}${name}.png` });
    },
  };
}
