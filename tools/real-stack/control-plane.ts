import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, type KubeConfig } from '@kubernetes/client-node';
import { accessFor, writeServiceAccountKeys } from './access.ts';
import { ensureBinaries } from './binaries.ts';
import { makeAuthority } from './certificates.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { freePorts } from './ports.ts';
import { launch, makeWorkspace, type Program, untilReady } from './process.ts';
import { controlPlanePrograms } from './table.ts';
import { waitFor } from './wait.ts';

export type ControlPlane = {
  /** As a member of system:masters. */
  readonly kubeConfig: KubeConfig;
  /** The same as a file, for programs that want a path. */
  readonly kubeConfigFile: string;
  readonly port: number;
  readonly etcd: Etcd;
  readonly apiServer: Program;
  readonly scheduler: Program;
  readonly controllerManager: Program;
  /**
   * Plays the kubelets. Nodes go Unknown some 20 s after `stop` and are back at once after `cont`; after a kill
   * and restart they come back only when the leases that the dead one held run out (up to 40 s).
   */
  readonly kwok: Program;
  readonly logs: string;
  /** As any user, with what RBAC gives to it and its groups. */
  as(user: string, groups?: readonly string[]): KubeConfig;
  /** As an existing ServiceAccount, with a token like the ones that pods get. */
  asServiceAccount(namespace: string, name: string): Promise<KubeConfig>;
  /** Makes every resourceVersion from before expire. Restarts the API server: its watch cache remembers. */
  compact(): Promise<void>;
  close(): Promise<void>;
};

export type ControlPlaneOptions = {
  readonly etcd?: Etcd;
  /** Certificates that were asked for and approved are signed, by the authority that clients are known by. */
  readonly signsRequests?: boolean;
};

/** A real Kubernetes control plane on 127.0.0.1; nodes are made with `addNode`. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const paths = await ensureBinaries(controlPlanePrograms);
  const workspace = makeWorkspace('kubernetes');
  const { logs } = workspace;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());

  const etcd = options.etcd ?? (await startEtcd());
  if (!options.etcd) cleanup.defer(() => etcd.close());

  const [port, schedulerPort, managerPort] = (await freePorts(3)) as [number, number, number];
  const authority = makeAuthority(workspace.folder);
  const serving = authority.issueServer('kube-apiserver');
  const keys = writeServiceAccountKeys(workspace);
  const access = accessFor(port, authority, workspace);
  const running = async (name: keyof typeof paths, args: string[], ready: () => Promise<unknown>) => {
    const program = launch({ name, path: paths[name], args, logs, ready });
    cleanup.defer(() => program.kill());
    await untilReady(program, ready);
    return program;
  };
  const isHealthy = (at: number, path: string) => () => answersOk(at, path, authority.cert);
  const tls = [`--tls-cert-file=${serving.cert}`, `--tls-private-key-file=${serving.key}`];

  const apiServer = await running(
    'kube-apiserver',
    [
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${port}`,
      // It would write a loopback address into Endpoints, which the API refuses.
      '--endpoint-reconciler-type=none',
      ...tls,
      `--client-ca-file=${authority.cert}`,
      `--etcd-servers=${etcd.endpoints.join(',')}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${access.tokenFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${keys.public}`,
      `--service-account-signing-key-file=${keys.private}`,
      '--service-cluster-ip-range=10.96.0.0/16',
    ],
    isHealthy(port, '/readyz'),
  );

  const [controllerManager, scheduler, kwok] = await Promise.all([
    running(
      'kube-controller-manager',
      [
        `--kubeconfig=${access.fileFor('system:kube-controller-manager')}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${managerPort}`,
        ...tls,
        '--leader-elect=false',
        '--use-service-account-credentials=true',
        `--service-account-private-key-file=${keys.private}`,
        `--controllers=${[...controllers, ...(options.signsRequests ? signers : [])].map((name) => `${name}-controller`).join(',')}`,
        ...(options.signsRequests
          ? [`--cluster-signing-cert-file=${authority.cert}`, `--cluster-signing-key-file=${authority.key}`]
          : []),
        '--node-monitor-period=2s',
        '--node-monitor-grace-period=20s',
      ],
      isHealthy(managerPort, '/healthz'),
    ),
    running(
      'kube-scheduler',
      [
        `--kubeconfig=${access.fileFor('system:kube-scheduler')}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${schedulerPort}`,
        ...tls,
        '--leader-elect=false',
      ],
      isHealthy(schedulerPort, '/healthz'),
    ),
    running(
      'kwok',
      [
        `--kubeconfig=${access.fileFor('kwok')}`,
        '--manage-all-nodes=false',
        '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
        '--node-lease-duration-seconds=40',
        `--config=${fileURLToPath(new URL('./stages.yaml', import.meta.url))}`,
      ],
      // It serves nothing to ask; that it works shows when the first node gets ready.
      async () => true,
    ),
  ]);

  const kubeConfig = access.withToken('admin');
  const core = kubeConfig.makeApiClient(CoreV1Api);
  // Pods are refused until their namespace has one.
  await waitFor('the default ServiceAccount', () =>
    core.readNamespacedServiceAccount({ namespace: 'default', name: 'default' }),
  );

  const owned = cleanup.move();
  return {
    kubeConfig,
    kubeConfigFile: access.fileFor('admin'),
    port,
    etcd,
    apiServer,
    scheduler,
    controllerManager,
    kwok,
    logs,
    as: access.withCertificate,
    async asServiceAccount(namespace, name) {
      const { status } = await core.createNamespacedServiceAccountToken({
        namespace,
        name,
        body: { spec: { audiences: ['https://kubernetes.default.svc'] } },
      });
      if (!status?.token) throw new Error(`no token for ServiceAccount ${namespace}/${name}`);
      return access.asUser({ name: `${namespace}/${name}`, token: status.token });
    },
    async compact() {
      await apiServer.kill();
      await etcd.compact();
      await apiServer.restart();
    },
    async close() {
      await owned.disposeAsync();
      workspace.removeLogs();
    },
  };
}

const controllers = [
  'serviceaccount',
  'serviceaccount-token',
  'namespace',
  'garbage-collector',
  'pod-garbage-collector',
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'job',
  'cronjob',
  'ttl-after-finished',
  'disruption',
  'node-lifecycle',
  'taint-eviction',
  'clusterrole-aggregation',
];
const signers = [
  'certificatesigningrequest-signing',
  'certificatesigningrequest-approving',
  'root-ca-certificate-publisher',
];

function answersOk(port: number, path: string, caFile: string): Promise<true | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca: readFileSync(caFile), agent: false, timeout: 2000 };
    const asking = request(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200 || undefined);
    });
    asking.on('timeout', () => asking.destroy(new Error(`${path} did not answer`)));
    asking.on('error', reject);
    asking.end();
  });
}
