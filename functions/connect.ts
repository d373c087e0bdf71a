import { hostname } from 'node:os';
import { credentialsFromFolder } from '../shared/adapters/credentials.ts';
import { createInventory } from '../shared/adapters/inventory.ts';
import { lazyCluster } from '../shared/adapters/kube-lazy.ts';
import { openStore } from '../shared/adapters/store.ts';
import type { Node, Pod } from '../shared/core/cluster.ts';
import { driverFor } from '../shared/drivers/index.ts';
import type { DriverDeps } from '../shared/ports.ts';
import { realClock } from '../shared/runtime/clock.ts';
import { createFailpoint } from '../shared/runtime/failpoint.ts';
import { newId } from '../shared/runtime/ids.ts';
import type { Log } from '../shared/runtime/log.ts';
import type { ProcessSettings } from '../shared/runtime/settings.ts';
import type { Deps } from './deps.ts';

export interface ConnectOptions {
  readonly settings: ProcessSettings;
  readonly log: Log;
  /** Where the cluster is, when not where the settings say: the text of a kubeconfig. */
  readonly kubeconfig?: string;
  readonly credentials?: DriverDeps['credentials'];
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
}

/** Builds what the handlers need, in this one place. Nothing is contacted before it is used. */
export async function connect(
  options: ConnectOptions,
): Promise<{ readonly deps: Omit<Deps, 'sink'>; close(): Promise<void> }> {
  const { settings, log } = options;
  const clock = realClock;
  const store = await openStore(settings.store);
  const cluster = lazyCluster({ ...options, kubeconfigFile: settings.kubeconfig, clock });
  const credentials = options.credentials ?? credentialsFromFolder(settings.credentialsDir);
  return {
    deps: {
      inventory: createInventory(store, clock),
      cluster,
      driverFor: (spec) => driverFor(spec, { credentials }),
      clock,
      log,
      failpoint: createFailpoint(settings.failpoint, log),
      owner: newId(hostname()),
    },
    async close() {
      cluster.close();
      await store.close();
    },
  };
}
