const unreleased = '## [Unreleased]\n';

/** The entries of the section that starts with this heading, without it. */
function sectionAfter(changelog: string, heading: string): string | undefined {
  const start = changelog.indexOf(heading);
  if (start < 0) return undefined;
  const rest = changelog.slice(start + heading.length);
  const end = rest.search(/^## \[/m);
  return (end < 0 ? rest : rest.slice(0, end)).trim();
}

/** The changelog with its unreleased entries under the new version. Throws if there is nothing to release. */
export function released(changelog: string, version: string, date: string): string {
  if (changelog.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md already has ${version}`);
  const entries = sectionAfter(changelog, unreleased);
  if (entries === undefined) throw new Error('CHANGELOG.md has no section [Unreleased]');
  if (!/^- /m.test(entries)) throw new Error('CHANGELOG.md has no entry under [Unreleased]');
  return changelog.replace(unreleased, `${unreleased}\n## [${version}] - ${date}\n`);
}

/** The entries of one version, for the release's page. */
export function changesOf(changelog: string, version: string): string {
  const heading = changelog.split('\n').find((line) => line.startsWith(`## [${version}]`));
  const entries = heading && sectionAfter(changelog, heading);
  if (!entries) throw new Error(`CHANGELOG.md has no entries for ${version}`);
  return `${entries}\n`;
}
