const semantic = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/** Throws unless `next` is a semantic version after `current`. */
export function requireLater(next: string, current: string): void {
  const wanted = semantic.exec(next);
  const present = semantic.exec(current);
  if (!wanted) throw new Error(`"${next}" is not a semantic version such as 1.2.3 or 1.2.3-rc.1`);
  if (!present) throw new Error(`package.json has the version "${current}", which is not a semantic version`);
  for (const part of [1, 2, 3]) {
    const difference = Number(wanted[part]) - Number(present[part]);
    if (difference > 0) return;
    if (difference < 0) throw new Error(`${next} is not later than ${current}`);
  }
  const [before, after] = [present[4], wanted[4]];
  // A pre-release comes before the release of the same number.
  const later =
    before !== undefined && (after === undefined || after.localeCompare(before, 'en', { numeric: true }) > 0);
  if (!later) throw new Error(`${next} is not later than ${current}`);
}
