import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../ports/store.ts';

export interface SqliteOptions {
  /** Opens beside a running host, to read only. */
  readonly readOnly?: boolean;
  /** False: a commit may be forgotten when the power goes, though never torn. */
  readonly durable?: boolean;
}

export interface OpenDatabase {
  readonly database: DatabaseSync;
  close(): void;
}

const formatVersion = 1;
const busyMs = 2000;
const schema = `
  CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, revision INTEGER NOT NULL, created INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS counter (revision INTEGER NOT NULL);
  INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter);
  PRAGMA user_version = ${formatVersion};
`;

/** SQLite's result codes; the low byte of an extended one. */
const sqlite = { busy: 5, readOnly: 8, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

function sqliteCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** Maps errors. Only a failed COMMIT may have happened. */
export function sqliteError(error: unknown, where: string, during: 'commit' | 'other'): StoreError {
  const reason = (error as Error).message;
  const options = { cause: error };
  if (sqliteCode(error) === sqlite.full)
    return new StoreError(
      'full',
      `${where}: no space left. Nothing is powered on or off until some is freed.`,
      options,
    );
  if (during === 'commit')
    return new StoreError('ambiguous', `${where}: a write may not have been kept (${reason})`, options);
  return new StoreError('unavailable', `${where}: ${reason}`, options);
}

export function openMemory(): OpenDatabase {
  const database = new DatabaseSync(':memory:');
  database.exec(schema);
  return { database, close: () => database.close() };
}

export function openFile(path: string, { readOnly = false, durable = true }: SqliteOptions): OpenDatabase {
  const file = resolve(path);
  if (readOnly && !existsSync(file))
    throw new StoreError('refused', `${file} does not exist; BAMEL_STORE=embedded:<path> names the file`);
  try {
    return readOnly ? openReader(file) : openWriter(file, durable);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const hints: Record<number, string> = {
      [sqlite.notADatabase]: 'is not a bamel store; name another file in BAMEL_STORE',
      [sqlite.readOnly]: 'cannot be written; check who owns it and its permissions',
      [sqlite.cannotOpen]: 'cannot be opened; check that the folder exists and its permissions',
    };
    const hint = hints[sqliteCode(error) ?? 0] ?? `cannot be opened (${(error as Error).message})`;
    throw new StoreError('refused', `${file} ${hint}`, { cause: error });
  }
}

function openReader(file: string): OpenDatabase {
  // A writer never makes readers wait in WAL mode; the time-out is for the moment when it opens or closes.
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyMs });
  return orClose(database, () => {
    checkFormat(database, file, [formatVersion]);
    return { database, close: () => database.close() };
  });
}

function openWriter(file: string, durable: boolean): OpenDatabase {
  mkdirSync(dirname(file), { recursive: true });
  // The inventory is for its owner only. SQLite gives the files beside it the same permissions.
  for (const one of [file, `${file}.lock`]) closeSync(openSync(one, 'a', 0o600));
  const lock = takeLock(file);
  return orClose(lock, () => {
    const database = new DatabaseSync(file, { timeout: busyMs });
    return orClose(database, () => {
      checkFormat(database, file, [0, formatVersion]);
      const synchronous = durable ? 'FULL' : 'NORMAL';
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; ${schema}`);
      return {
        database,
        close() {
          database.close();
          lock.close();
        },
      };
    });
  });
}

function orClose<T>(database: DatabaseSync, open: () => T): T {
  try {
    return open();
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Held for as long as the store is open. A second SQLite file, locked for good, because the kernel frees its
 * lock when the process dies, however it dies, while readers of the store itself are not kept out.
 */
function takeLock(file: string): DatabaseSync {
  const lock = new DatabaseSync(`${file}.lock`, { timeout: 0 });
  return orClose(lock, () => {
    try {
      lock.exec('BEGIN EXCLUSIVE');
      return lock;
    } catch (error) {
      if (sqliteCode(error) !== sqlite.busy) throw error;
      throw new StoreError(
        'refused',
        `${file} is in use by another bamel process; stop it, or use BAMEL_STORE=etcd://host:2379 for more than one`,
        { cause: error },
      );
    }
  });
}

function checkFormat(database: DatabaseSync, file: string, known: readonly number[]): void {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (known.includes(found)) return;
  throw new StoreError(
    'refused',
    found > formatVersion
      ? `${file} was written by a newer bamel (format ${found}, this one knows ${formatVersion}); upgrade bamel`
      : `${file} is not a bamel store; name another file in BAMEL_STORE`,
  );
}
