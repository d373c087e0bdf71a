import { namespaces, serviceAccounts } from '../api/resource-types.ts';
import type { Context } from './context.ts';

/** Every namespace has a service account named default. */
export function serviceAccountController({ store, work, on }: Context): void {
  const ensure = (namespace: string) => {
    const space = store.get(namespaces, undefined, namespace);
    if (!space || space.metadata.deletionTimestamp || store.get(serviceAccounts, namespace, 'default'))
      return;
    store.create(serviceAccounts, { metadata: { name: 'default', namespace } });
  };
  const enqueue = (namespace: string) => work.add(`serviceaccounts/${namespace}`, () => ensure(namespace));
  on(namespaces, ({ object }) => enqueue(object.metadata.name));
  on(serviceAccounts, ({ type, object }) => {
    if (type === 'DELETED') enqueue(object.metadata.namespace ?? '');
  });
}
