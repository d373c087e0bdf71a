import { localLinks, pages, readText } from './markdown.ts';

test('the index of the docs links every page', () => {
  const linked = localLinks(readText('docs/README.md')).map((link) => `docs/${link}`);
  const written = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md');
  expect(written.length).toBeGreaterThan(15);
  expect(written.filter((page) => !linked.includes(page))).toEqual([]);
});

test('the README leads to the guides', () => {
  expect(localLinks(readText('README.md'))).toEqual(
    expect.arrayContaining(
      ['getting-started', 'homelab', 'rack', 'operations', 'troubleshooting', 'comparison', 'README'].map(
        (page) => `docs/${page}.md`,
      ),
    ),
  );
});
