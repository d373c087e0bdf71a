import { changesOf, released } from '../../scripts/release/changelog.ts';
import { requireLater } from '../../scripts/release/version.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- B.

## [1.0.0] - 2026-01-31

- A.
`;

test('entries move under the version', () => {
  const next = released(changelog, '1.1.0', '2026-02-28');
  expect(next).toContain('## [Unreleased]\n\n## [1.1.0] - 2026-02-28\n\n### Added\n\n- B.\n\n## [1.0.0]');
  expect(changesOf(next, '1.1.0')).toBe('### Added\n\n- B.\n');
  expect(changesOf(next, '1.0.0')).toBe('- A.\n');
});

test('a version without entries has no changes', () => {
  expect(() => changesOf(changelog, '1.0')).toThrow('1.0');
  expect(() => released(released(changelog, '1.1.0', ''), '1.2.0', '')).toThrow('no entry');
  expect(() => released(changelog, '1.0.0', '')).toThrow('already');
});

test.each([
  ['1.0.1', '1.0.0'],
  ['1.10.0', '1.9.9'],
  ['2.0.0-rc.1', '1.9.9'],
  ['2.0.0', '2.0.0-rc.1'],
  ['2.0.0-rc.10', '2.0.0-rc.9'],
])('%s is later than %s', (later, earlier) => {
  expect(() => requireLater(later, earlier)).not.toThrow();
  expect(() => requireLater(earlier, later)).toThrow('not later');
});

test.each(['1.0', 'v1.0.0', '1.0.0 ', '', '1.0.0-'])('%p is not a version', (version) => {
  expect(() => requireLater(version, '0.1.0')).toThrow('semantic version');
});
