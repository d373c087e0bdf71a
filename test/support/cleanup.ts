import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const open: { close(): unknown }[] = [];
const folders: string[] = [];

// Jest loads this module for each test file anew: these are hooks of that file.
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Closes what a test, or a beforeEach, has opened when the test is over; the last one first. Not for test.concurrent. */
export function closing<Item extends { close(): unknown }>(item: Item): Item {
  open.push(item);
  return item;
}

/** An empty folder, removed when all tests of the file are over. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-test-'));
  folders.push(folder);
  return folder;
}
