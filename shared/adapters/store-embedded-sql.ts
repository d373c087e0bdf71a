import type { DatabaseSync } from 'node:sqlite';
import type { Entry } from '../ports.ts';

/** Greater than any key that begins with the prefix: the last code point there is. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

/** The statements of the embedded store, prepared once, in terms of the port. */
export function prepare(database: DatabaseSync) {
  const get = database.prepare('SELECT key, value, revision, created FROM entries WHERE key = ?');
  // One statement, hence one snapshot, also when another process writes.
  const list = database.prepare(
    `SELECT at.revision AS at, key, value, entries.revision, created FROM counter AS at
     LEFT JOIN entries ON key >= ? AND key < ? ORDER BY key`,
  );
  const put = database.prepare(
    `INSERT INTO entries (key, value, revision, created) VALUES (?1, ?2, ?3, ?3)
     ON CONFLICT (key) DO UPDATE SET value = ?2, revision = ?3 RETURNING created`,
  );
  const remove = database.prepare('DELETE FROM entries WHERE key = ?');
  const count = database.prepare('UPDATE counter SET revision = ?');
  const revision = database.prepare('SELECT revision FROM counter');
  const command = (sql: string) => {
    const statement = database.prepare(sql);
    return () => void statement.run();
  };
  return {
    begin: command('BEGIN IMMEDIATE'),
    commit: command('COMMIT'),
    rollBack: command('ROLLBACK'),
    get: (key: string) => get.get(key) as Entry | undefined,
    list(prefix: string) {
      const rows = list.all(prefix, endOf(prefix)) as (
        | (Entry & { at: number })
        | { at: number; key: null }
      )[];
      return {
        revision: rows[0]?.at ?? 0,
        entries: rows.flatMap((row): Entry[] => {
          if (row.key === null) return [];
          const { at: _, ...entry } = row;
          return [entry];
        }),
      };
    },
    put: (key: string, value: string, at: number) => (put.get(key, value, at) as { created: number }).created,
    remove: (key: string) => remove.run(key).changes === 1,
    count: (at: number) => void count.run(at),
    revision: () => (revision.get() as { revision: number }).revision,
  };
}
