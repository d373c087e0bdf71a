import { openStore } from '../../shared/adapters/store/open-store.ts';
import { startEtcd } from '../../tools/real-stack/etcd.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { type StoreHarness, storeContract } from '../contract/store-suite.ts';

const onOneMember = async (): Promise<StoreHarness> => {
  const etcd = await startEtcd();
  const url = `etcd://127.0.0.1:${etcd.members[0]?.port}`;
  const [store, other] = [await openStore(url), await openStore(url)];
  return {
    store,
    another: async () => other,
    async close() {
      await store.close();
      await other.close();
      await etcd.close();
    },
  };
};

describeWith(['etcd'], 'etcd store', () => {
  storeContract('on one member', onOneMember, { runs: 20 });
});
