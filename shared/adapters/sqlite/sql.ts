import type { DatabaseSync } from 'node:sqlite';
import type { Entry } from '../../ports/store.ts';

/** Greater than any key that begins with the prefix: the last code point there is. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

/** The statements of the embedded store, prepared once, in terms of the port. */
export function prepare(database: DatabaseSync) {
  const get = database.prepare('SELECT key, value, revision, created FROM entries WHERE key = ?');
  const range = database.prepare(
    'SELECT key, value, revision, created FROM entries WHERE key >= ? AND key < ? ORDER BY key',
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
  const beginRead = command('BEGIN');
  const commit = command('COMMIT');
  const currentRevision = () => (revision.get() as { revision: number }).revision;
  return {
    commit,
    begin: command('BEGIN IMMEDIATE'),
    rollBack: command('ROLLBACK'),
    revision: currentRevision,
    get: (key: string) => get.get(key) as Entry | undefined,
    /** In a transaction, for a reader beside the process that writes. */
    list(prefix: string) {
      beginRead();
      try {
        const entries = range.all(prefix, endOf(prefix)) as unknown as Entry[];
        return { revision: currentRevision(), entries };
      } finally {
        commit();
      }
    },
    put: (key: string, value: string, at: number) => (put.get(key, value, at) as { created: number }).created,
    remove: (key: string) => remove.run(key).changes === 1,
    count: (at: number) => void count.run(at),
  };
}
