import { join } from 'node:path';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { storeContract } from '../contract/store-suite.ts';
import { newFolder } from '../support/cleanup.ts';

storeContract('embedded store in memory', async () => {
  const store = await openStore('embedded:');
  return { store, another: async () => store, close: () => store.close() };
});

storeContract('embedded store in a file', async () => {
  const folder = newFolder();
  const store = await openStore(`embedded:${join(folder, 'store.db')}`, { durable: false });
  return {
    store,
    another: async () => store,
    async close() {
      await store.close();
    },
  };
});
