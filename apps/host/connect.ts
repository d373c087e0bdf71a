import { hostname } from 'node:os';
import type { Deps } from '../../functions/deps.ts';
import { configSource } from '../../shared/adapters/files/config-source.ts';
import { credentialsFromFolder } from '../../shared/adapters/files/credentials.ts';
import { createKubeClient, type KubeClient } from '../../shared/adapters/kubernetes/client.ts';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { credentialsFromSecrets } from '../../shared/adapters/kubernetes/credentials.ts';
import { kubeJobs } from '../../shared/adapters/kubernetes/jobs.ts';
import { nodeEvidence } from '../../shared/adapters/kubernetes/node-evidence.ts';
import { kubeObjects } from '../../shared/adapters/kubernetes/objects.ts';
import { createKubeResources } from '../../shared/adapters/kubernetes/resources.ts';
import { type KubeTransport, kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';
import { insecurityWarning } from '../../shared/drivers/common/warning.ts';
import { driverFor, releaseOrphans } from '../../shared/drivers/index.ts';
import { defaultNetworks, networkGuard } from '../../shared/http/network-guard.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { MetricsSource } from '../../shared/ports/metrics.ts';
import type { DriverDeps } from '../../shared/ports/power.ts';
import type { Resource } from '../../shared/ports/resources.ts';
import type { ViewPart } from '../../shared/ports/view-parts.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createFailpoint } from '../../shared/process/failpoint.ts';
import { newId } from '../../shared/process/ids.ts';
import type { Log } from '../../shared/process/log.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import { createInventory } from '../../shared/state/inventory.ts';

export interface ConnectOptions {
  readonly settings: ProcessSettings;
  readonly log: Log;
  /** Where the cluster is, when not where the settings say: the text of a kubeconfig. */
  readonly kubeconfig?: string;
  readonly credentials?: DriverDeps['credentials'];
  /** Parts of the cluster to watch; all by default. */
  readonly watches?: readonly ViewPart[] | undefined;
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
  readonly onResource?: (now: Resource | undefined, before: Resource | undefined) => void;
}

/** What drivers need besides credentials. */
const reach = (
  cluster: Cluster,
  kube: KubeClient,
  { allowedNetworks, host }: ProcessSettings,
): Pick<DriverDeps, 'resolve' | 'nodeOf' | 'jobs'> => {
  let guard: DriverDeps['resolve'] | undefined;
  return {
    // Made when first used: it takes a while, and a tick often talks to no BMC.
    resolve: (name) => {
      guard ??= networkGuard(allowedNetworks ?? defaultNetworks(host));
      return guard(name);
    },
    nodeOf: nodeEvidence(cluster, kube, realClock),
    jobs: kubeJobs(kube),
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
          const { prometheus } = await import('../../shared/adapters/prometheus/prometheus.ts');
          return prometheus({ url, tokenFile, caFile, resolve }).query(expression, signal);
        },
      };

interface Connected {
  readonly deps: Omit<Deps, 'sink'>;
  readonly transport: KubeTransport;
  close(): Promise<void>;
}

/** Builds what the handlers need, in this one place. Nothing is contacted before it is used. */
export async function connect(options: ConnectOptions): Promise<Connected> {
  const { settings, log } = options;
  const clock = realClock;
  const store = await openStore(settings.store);
  const transport = kubeTransport({ kubeconfig: options.kubeconfig, kubeconfigFile: settings.kubeconfig });
  const kube = createKubeClient(transport, { readMs: 10_000, writeMs: 10_000 });
  const cluster = createKubeCluster({ ...options, transport, clock });
  const objects = kubeObjects(transport);
  const reached = { ...reach(cluster, kube, settings), objects };
  const resources = createKubeResources({ ...options, transport, clock });
  const credentials =
    options.credentials ??
    (settings.credentialsDir
      ? credentialsFromFolder(settings.credentialsDir)
      : credentialsFromSecrets(kube, clock));
  const warnIfInsecure = insecurityWarning((machine, text) =>
    log.warn({ step: 'power', machine, text }, 'connection to the BMC is not secure'),
  );
  return {
    deps: {
      inventory: createInventory(store, clock),
      cluster,
      resources,
      config: configSource(settings.config, kube),
      driverFor: (spec) => {
        warnIfInsecure(spec);
        return driverFor(spec, { ...reached, credentials, clock });
      },
      objects,
      resolve: reached.resolve,
      credentials,
      releaseOrphans: (pool, provider, isKnown, signal) =>
        releaseOrphans(pool, provider, isKnown, { ...reached, credentials, clock }, signal),
      metricsSource: metricsSourceOf(settings, reached.resolve),
      clock,
      log,
      failpoint: createFailpoint(settings.failpoint, log),
      owner: newId(hostname()),
      ownNode: settings.nodeName,
    },
    transport,
    async close() {
      cluster.close();
      resources.close();
      await store.close();
    },
  };
}
