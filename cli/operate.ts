import { hostname, userInfo } from 'node:os';
import { openStore } from '../shared/adapters/store/open-store.ts';
import { type Store, StoreError } from '../shared/ports/store.ts';

export const whoAsks = (): string => `${userInfo().username}@${hostname()}`;

/** Whoever can open the file of an embedded store to write has found it without an owner. */
export async function checkHostRuns(address: string): Promise<void> {
  let writer: Store;
  try {
    writer = await openStore(address);
  } catch (error) {
    if (error instanceof StoreError) return;
    throw error;
  }
  await writer.close();
  throw new Error(`no host runs on ${address}: no process would run it. Start one, then try again`);
}
