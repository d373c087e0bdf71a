import { pages, readText, tableRows, withoutCode } from './markdown.ts';

const glossary = readText('docs/glossary.md');
const cells = (heading: string): string[] =>
  [...tableRows(glossary, heading).keys()].filter((cell) => !/^-+$/.test(cell));

/** Each cell of the first column lists words and phrases, with commas. */
const unused = cells('Words that are not used').flatMap((cell) => cell.split(', '));

/** Old entries of the changelog stay as they were written; the glossary names the words itself. */
const checked = pages.filter((page) => !['CHANGELOG.md', 'docs/glossary.md'].includes(page));

const found = (page: string): string[] => {
  const text = withoutCode(readText(page));
  return unused.flatMap((word) =>
    [...text.matchAll(new RegExp(`(?<![\\w-])${word}(?![\\w-])`, 'gi'))].map(
      ({ index }) => `${word}: … ${text.slice(Math.max(0, index - 40), index + 40).replaceAll('\n', ' ')} …`,
    ),
  );
};

test('the glossary defines each word once', () => {
  const words = cells('Words').map((cell) => cell.replaceAll('*', ''));
  expect(words.length).toBeGreaterThan(40);
  expect(words).toEqual([...new Set(words)]);
});

test('a word that is used is not one that is not', () => {
  expect(cells('Words').filter((word) => unused.includes(word.replaceAll('*', '')))).toEqual([]);
  expect(unused).toEqual(expect.arrayContaining(['told', 'lent', 'lender', 'whoever', 'nobody', 'somebody']));
});

test.each(checked)('%s has none of the words that are not used', (page) => {
  expect(found(page)).toEqual([]);
});
