import { globSync } from 'node:fs';
import { readText, root } from './markdown.ts';

const sources = globSync('{cli,functions,shared}/**/*.ts', { cwd: root }).map(readText);
const page = readText('docs/troubleshooting.md');

/** The messages: what stands in code at the beginning of a row. */
const messages = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, message = '']) => message);

/** The fixed parts of a message, as the code has them between what it fills in. */
const parts = (message: string): string[] =>
  message
    .split('…')
    .map((part) => part.trim())
    .filter((part) => /\w{2}/.test(part));

/** What the system says, not we. */
const foreign = ['EADDRINUSE'];

test('there are many messages to check', () => {
  expect(messages.length).toBeGreaterThan(40);
});

test.each(messages.filter((message) => !foreign.includes(message)))('is in the source: %s', (message) => {
  const wanted = parts(message);
  expect(wanted).not.toEqual([]);
  const found = sources.some((text) => {
    let from = 0;
    return wanted.every((part) => {
      const at = text.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
  expect(found).toBe(true);
});
