import { hostname } from 'node:os';
import { configSource } from '../shared/adapters/config-source.ts';
import { credentialsFromFolder } from '../shared/adapters/credentials.ts';
import { credentialsFromSecrets } from '../shared/adapters/credentials-kube.ts';
import { createInventory } from '../shared/adapters/inventory.ts';
import { type KubeAccess, lazyKubeAccess } from '../shared/adapters/kube-access.ts';
import { type OpenKube, shareKube } from '../shared/adapters/kube-config.ts';
import { nodeEvidence } from '../shared/adapters/kube-evidence.ts';
import { kubeJobs } from '../shared/adapters/kube-jobs.ts';
import { lazyCluster } from '../shared/adapters/kube-lazy.ts';
import { kubeObjects } from '../shared/adapters/kube-objects.ts';
import { lazyResources } from '../shared/adapters/kube-resources-lazy.ts';
import { defaultNetworks, networkGuard } from '../shared/adapters/network-guard.ts';
import type { Resource } from '../shared/adapters/resources.ts';
import { openStore } from '../shared/adapters/store.ts';
import type { ViewPart } from '../shared/adapters/view-parts.ts';
import type { Node, Pod } from '../shared/core/cluster.ts';
import { insecurityWarning } from '../shared/drivers/common/warning.ts';
import { driverFor, releaseStrays } from '../shared/drivers/index.ts';
import type { Cluster, DriverDeps, MetricsSource } from '../shared/ports.ts';
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
  /** For a process that is started to answer one event. */
  readonly quick?: boolean;
  /** What of the cluster is looked at; everything unless said. */
  readonly sees?: readonly ViewPart[] | undefined;
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
  readonly onResource?: (now: Resource | undefined, before: Resource | undefined) => void;
}

/** What drivers need besides credentials. */
const reach = (
  cluster: Cluster,
  access: () => Promise<KubeAccess>,
  { allowedNetworks, host }: ProcessSettings,
): Pick<DriverDeps, 'resolve' | 'nodeOf' | 'jobs'> => {
  let guard: DriverDeps['resolve'] | undefined;
  return {
    // Made when first used: it takes a while, and a tick often talks to no BMC.
    resolve: (name) => {
      guard ??= networkGuard(allowedNetworks ?? defaultNetworks(host));
      return guard(name);
    },
    nodeOf: nodeEvidence(cluster, access, realClock),
    jobs: kubeJobs(access),
  };
};

/** Loaded only where there is one to ask. */
const metricsSourceOf = (
  { prometheusUrl: url, prometheusTokenFile: tokenFile, prometheusCa: caFile }: ProcessSettings,
  resolve: DriverDeps['resolve'],
): MetricsSource | undefined =>
  url === undefined
    ? undefined
    : {
        async query(expression, signal) {
          const { prometheus } = await import('../shared/adapters/prometheus.ts');
          return prometheus({ url, tokenFile, caFile, resolve }).query(expression, signal);
        },
      };

interface Connected {
  readonly deps: Omit<Deps, 'sink'>;
  readonly openKube: OpenKube;
  close(): Promise<void>;
}

/** Builds what the handlers need, in this one place. Nothing is contacted before it is used. */
export async function connect(options: ConnectOptions): Promise<Connected> {
  const { settings, log, quick = false } = options;
  const clock = realClock;
  const store = await openStore(settings.store);
  const where = { kubeconfig: options.kubeconfig, kubeconfigFile: settings.kubeconfig, quick };
  const kube = shareKube(where);
  const cluster = lazyCluster({ ...options, open: kube.open, clock });
  const access = lazyKubeAccess(where);
  const objects = kubeObjects(kube.open);
  const reached = { ...reach(cluster, access, settings), objects };
  const resources = lazyResources({ ...options, open: kube.open, clock });
  const credentials =
    options.credentials ??
    (settings.credentialsDir
      ? credentialsFromFolder(settings.credentialsDir)
      : credentialsFromSecrets(access, clock));
  const warnIfInsecure = insecurityWarning((machine, story) =>
    log.warn({ step: 'power', machine, story }, 'connection to the BMC is not secure'),
  );
  return {
    deps: {
      inventory: createInventory(store, clock),
      cluster,
      resources,
      config: configSource(settings.config, kube.open),
      driverFor: (spec) => {
        warnIfInsecure(spec);
        return driverFor(spec, { ...reached, credentials, clock });
      },
      objects,
      resolve: reached.resolve,
      credentials,
      releaseStrays: (pool, provider, isKnown, signal) =>
        releaseStrays(pool, provider, isKnown, { ...reached, credentials, clock }, signal),
      metricsSource: metricsSourceOf(settings, reached.resolve),
      clock,
      log,
      failpoint: createFailpoint(settings.failpoint, log),
      owner: newId(hostname()),
      ownNode: settings.nodeName,
    },
    openKube: kube.open,
    async close() {
      cluster.close();
      resources.close();
      await kube.close();
      await store.close();
    },
  };
}
