import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while no other process does under the same lock file. SQLite's file lock is used because the
 * kernel frees it when its owner dies, however it dies: there is no stale lock to recognise.
 */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    for (let round = 0; !take(database); round++) {
      if (round % 300 === 0) onWait();
      await sleep(100);
    }
    return await work();
  } finally {
    database.close();
  }
}

const busy = 5;

function take(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}
