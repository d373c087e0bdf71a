import { readFileSync } from 'node:fs';
import { generatedFiles } from '../../scripts/generate/files.ts';
import { lifecycle, states } from '../../shared/core/machine/lifecycle.ts';

const content = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

test.each(generatedFiles.map(({ file, text }) => [file, text] as const))(
  '%s is what the code says',
  (file, text) => {
    if (content(file) !== text()) throw new Error(`${file} is out of date: run npm run generate`);
    expect(content(file)).toContain('npm run generate');
  },
);

test('the lifecycle page names every state, event and condition', () => {
  const page = content('docs/lifecycle.md');
  for (const state of states) {
    expect(page).toContain(`| **${state}** |`);
    for (const [event, { to, guard }] of Object.entries(lifecycle[state].on)) {
      expect(guard?.name).not.toBe('');
      expect(page).toContain(`| ${state} | \`${event}\` | ${to} | ${guard ? `\`${guard.name}\`` : '–'} |`);
    }
  }
});
