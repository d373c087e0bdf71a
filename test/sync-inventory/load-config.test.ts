import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { Deps } from '../../functions/deps.ts';
import { createConfigLoader } from '../../functions/sync-inventory/load-config.ts';
import { type ConfigSource, configSource } from '../../shared/adapters/files/config-source.ts';
import { createKubeClient } from '../../shared/adapters/kubernetes/client.ts';
import type { KubeConfigSource } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { encode } from '../../shared/state/codec.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { keys } from '../../shared/state/keys.ts';
import { startApi } from '../../simulator/lab/api/index.ts';
import { config, machine } from '../adapters/inventory-harness.ts';
import { closing, newFolder } from '../support/cleanup.ts';

const clientOf = (source: KubeConfigSource) =>
  createKubeClient(kubeTransport(source), { readMs: 10_000, writeMs: 10_000 });

/** A text that people edit: how to write it, and what the process is told. */
interface Edited {
  readonly source: ConfigSource | undefined;
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

const kinds: readonly (readonly [string, () => Promise<Edited>])[] = [
  [
    'the file',
    async () => {
      const folder = newFolder();
      const path = join(folder, 'bamel.yaml');
      return {
        source: configSource(path, clientOf({})),
        write: (text) => writeFile(path, text),
        close: () => rm(folder, { recursive: true }),
      };
    },
  ],
  [
    'a ConfigMap',
    async () => {
      const api = await startApi();
      const kubeConfig = new KubeConfig();
      kubeConfig.loadFromString(api.kubeconfig());
      const core = kubeConfig.makeApiClient(CoreV1Api);
      const at = { namespace: 'default', name: 'inventory' };
      const kube = clientOf({ kubeconfig: api.kubeconfig() });
      return {
        source: configSource('configmap:default/inventory', kube),
        async write(text) {
          const body = { metadata: { name: 'inventory' }, data: { 'machines.yaml': text } };
          const there = (await core.listNamespacedConfigMap({ namespace: 'default' })).items.some(
            ({ metadata }) => metadata?.name === 'inventory',
          );
          if (there) await core.replaceNamespacedConfigMap({ ...at, body });
          else await core.createNamespacedConfigMap({ namespace: 'default', body });
        },
        async close() {
          kube.close();
          await api.close();
        },
      };
    },
  ],
];

test.each(kinds)('%s is loaded whenever it changes; one with a mistake changes nothing', async (_, start) => {
  const edited = await start();
  const store = await openStore('embedded:');
  try {
    const inventory = createInventory(store, realClock);
    const log = createLog({ level: 'silent', format: 'json' });
    const load = createConfigLoader({ config: edited.source, inventory, log } as Deps);
    const names = async () => (await inventory.machines()).map(({ spec }) => spec.name);
    expect(await load()).toMatch(/cannot be read/);

    await edited.write(stringify(config([machine('m-1')])));
    expect(await load()).toBe('loaded');
    expect(await names()).toEqual(['m-1']);
    expect(await load()).toBe('unchanged');

    await edited.write(stringify(config([machine('m-2', { powerInterface: 'lever' })])));
    expect(await load()).toMatch(/lever/);
    expect(await names()).toEqual(['m-1']);

    await edited.write(stringify(config([machine('m-1'), machine('m-2')])));
    expect(await load()).toBe('loaded');
    expect(await names()).toEqual(['m-1', 'm-2']);
  } finally {
    await store.close();
    await edited.close();
  }
});

test('what a resource describes is left alone, and is the file’s again once the resource has let go of it', async () => {
  const store = closing(await openStore('embedded:'));
  const inventory = createInventory(store, realClock);
  const log = createLog({ level: 'silent', format: 'json' });
  const text = stringify(config([machine('m-1')], { autoscaler: { protect: ['name=file'] } }));
  const source = { name: 'bamel.yaml', read: async () => text };
  const load = createConfigLoader({ config: source, inventory, log } as Deps);
  const theirs = encode({ from: 'resource', namespace: 'n', name: 'x', uid: 'u' });
  const claimed = [keys.node('m-1', 'source'), keys.global('source')];
  await store.commit(
    [],
    [
      { put: keys.node('m-1', 'spec'), value: encode(machine('m-1', { rack: 'theirs' })) },
      { put: keys.global('config'), value: encode({ protect: ['name=theirs'] }) },
      ...claimed.map((put) => ({ put, value: theirs })),
    ],
  );
  const seen = async () => [
    (await inventory.machine('m-1'))?.spec.rack,
    (await inventory.settings()).protect,
  ];
  await load();
  expect(await seen()).toEqual(['theirs', ['name=theirs']]);
  await store.commit(
    [],
    claimed.map((key) => ({ delete: key })),
  );
  await load();
  expect(await seen()).toEqual([undefined, ['name=file']]);
  expect(await load()).toBe('unchanged');
});
