import { closest, didYouMean } from '../../shared/schema/did-you-mean.ts';

const known = ['powerInterface', 'powerCircuit', 'pool', 'port', 'dryRun'];

test.each([
  ['powerInterfcae', 'powerInterface'],
  ['prot', 'port'],
  ['dryrun', 'dryRun'],
  ['pools', 'pool'],
  ['powerCirciut', 'powerCircuit'],
  ['xyz', undefined],
  ['', undefined],
])('%s → %s', (name, expected) => {
  expect(closest(name, known)).toBe(expected);
});

test('is put behind an error', () => {
  expect(didYouMean('prot', known)).toBe(' Did you mean port?');
  expect(didYouMean('xyz', known)).toBe('');
});

test('does not compare what is no typing mistake', () => {
  expect(closest('p'.repeat(1_000_000), known)).toBeUndefined();
});
