import { AuthorizationV1Api, CoreV1Api, type KubeConfig } from '@kubernetes/client-node';
import { connect } from '../../apps/host/connect.ts';
import { deployed } from '../../apps/host/deployed.ts';
import { functionTable } from '../../functions/index.ts';
import { permissions } from '../../functions/permissions.ts';
import { hostPermissions, rulesOf } from '../../scripts/generate/install/rbac.ts';
import { remoteRbac } from '../../scripts/generate/install/remote.ts';
import { providerPolicy } from '../../scripts/generate/install/remote-policy.ts';
import { events } from '../../shared/ports/event-types.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import { createLog } from '../../shared/process/log.ts';
import { readSettings } from '../../shared/process/settings.ts';
import type { ServedFunction } from '../../shared/server/function.ts';
import { createLocalSink, type LocalSink } from '../../shared/server/local-sink.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { labConfig } from '../../simulator/lab/config.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { type Etcd, startEtcd } from '../../tools/real-stack/etcd.ts';
import { createObject } from '../../tools/real-stack/objects.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { send } from '../../tools/worlds/cluster-client.ts';
import { playStory, startWorld, storyConfig } from '../../tools/worlds/story.ts';
import { accountsIn, type Bound, movedTo } from '../rbac/accounts.ts';
import { apply, install, pathOf } from '../sync-inventory/definitions.ts';

/** Not the one that the manifests name. */
const home = 'power-plant';
const names = deployed.map(({ name }) => name);
const everybody = [...names, 'host'];
const seesAll = ['evaluate-scaling', 'console'];
const withCluster = names.filter((name) => name !== 'dead-letters' && name !== 'discovery');

const tries: readonly (readonly [method: string, path: string, allowed: readonly string[], body?: object])[] =
  [
    [
      'POST',
      '/api/v1/namespaces/default/pods/none/eviction',
      ['drain-node'],
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none', namespace: 'default' } },
    ],
    ['DELETE', '/api/v1/namespaces/default/pods/none', ['join-watcher']],
    ['DELETE', '/api/v1/nodes/none', ['join-watcher']],
    ['PATCH', '/api/v1/nodes/none', ['join-watcher', 'drain-node'], {}],
    ['GET', '/api/v1/nodes?limit=1', withCluster],
    ['GET', '/api/v1/pods?limit=1', [...seesAll, 'join-watcher', 'drain-node']],
    ['GET', '/apis/policy/v1/poddisruptionbudgets?limit=1', [...seesAll, 'join-watcher', 'drain-node']],
    ['GET', '/apis/apps/v1/daemonsets?limit=1', [...seesAll, 'join-watcher']],
    ['GET', '/api/v1/namespaces?limit=1', seesAll],
    ['GET', '/api/v1/persistentvolumes?limit=1', seesAll],
    ['GET', '/api/v1/persistentvolumeclaims?limit=1', seesAll],
    ['GET', '/apis/storage.k8s.io/v1/storageclasses?limit=1', seesAll],
    ['GET', '/apis/storage.k8s.io/v1/volumeattachments?limit=1', ['join-watcher', 'drain-node']],
    ['GET', `/api/v1/namespaces/${home}/secrets/none`, ['power-action', 'discovery']],
    ['GET', `/api/v1/namespaces/${home}/secrets`, []],
    ['GET', '/api/v1/namespaces/kube-system/secrets/none', []],
    ['POST', `/apis/batch/v1/namespaces/${home}/jobs`, ['power-action'], {}],
    ['POST', '/apis/batch/v1/namespaces/default/jobs', [], {}],
    ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/none', ['power-action']],
    ['GET', `/api/v1/namespaces/${home}/configmaps/none`, ['sync-inventory']],
    ['GET', '/api/v1/namespaces/kube-system/configmaps/none', []],
    ['GET', '/apis/bamel.dev/v1alpha1/baremetalnodes', ['sync-inventory']],
    ['PATCH', `${pathOf(home, 'BareMetalNode', 'none')}/status`, ['sync-inventory'], {}],
    ['DELETE', pathOf(home, 'NodePool', 'none'), ['sync-inventory']],
    ['POST', pathOf(home, 'NodePool'), [], {}],
    ['POST', `/api/v1/namespaces/${home}/pods`, [], {}],
    ['POST', '/api/v1/namespaces/default/pods/none/exec?command=id', []],
    ['POST', `/api/v1/namespaces/${home}/serviceaccounts/default/token`, [], {}],
    ['PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/bamel-dead-letters', [], {}],
    ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', [], {}],
  ];

describeWith(controlPlanePrograms, 'every function with a ServiceAccount of its own', () => {
  let plane: ControlPlane;
  let store: Etcd;
  beforeAll(async () => {
    [plane, store] = await Promise.all([startControlPlane(), startEtcd()]);
    const core = plane.kubeConfig.makeApiClient(CoreV1Api);
    await core.createNamespace({ body: { metadata: { name: home } } });
    await install(plane.kubeConfig);
    for (const object of accountsIn(home)) await createObject(plane.kubeConfig, object);
  }, 600_000);
  afterAll(() => Promise.all([plane?.close(), store?.close()]));

  const as = (name: string): Promise<KubeConfig> => plane.asServiceAccount(home, `bamel-${name}`);

  /** "verb group/resource", of all that the API server lets somebody do in a namespace. */
  const rightsOf = async (kubeConfig: KubeConfig, namespace: string): Promise<Set<string>> => {
    const { status } = await kubeConfig
      .makeApiClient(AuthorizationV1Api)
      .createSelfSubjectRulesReview({ body: { spec: { namespace } } });
    return new Set(
      (status?.resourceRules ?? []).flatMap(({ apiGroups = [], resources = [], verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
        ),
      ),
    );
  };

  test.each(everybody)('%s may do exactly what is declared', async (name) => {
    const declared = rulesOf(
      permissions[name] ??
        (name === 'host' ? hostPermissions : { watches: [], clusterWide: [], ownNamespace: [] }),
    );
    const lines = (rules: typeof declared.ownNamespace) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        verbs.map((verb) => `${verb} ${apiGroups[0]}/${resources[0]}`),
      );
    const kubeConfig = await as(name);
    const anybody = await rightsOf(await plane.asServiceAccount('default', 'default'), 'default');
    const own = async (namespace: string) =>
      [...(await rightsOf(kubeConfig, namespace))].filter((right) => !anybody.has(right));
    expect((await own('default')).sort()).toEqual(lines(declared.clusterWide).sort());
    const both = new Set([...lines(declared.clusterWide), ...lines(declared.ownNamespace)]);
    expect((await own(home)).sort()).toEqual([...both].sort());
  });

  test('what is tried is done for those who may, and forbidden to all others', async () => {
    const done = new Map<string, string[]>(tries.map(([method, path]) => [`${method} ${path}`, []]));
    for (const name of everybody) {
      const kubeConfig = await as(name);
      for (const [method, path, , body] of tries) {
        const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const { code } = await send(kubeConfig, method, path, body ? { body, type } : {});
        // Rights are looked at before what is asked for: 400, 404 and 422 come after.
        if (code !== 403) done.get(`${method} ${path}`)?.push(name);
      }
    }
    expect(Object.fromEntries(done)).toEqual(
      Object.fromEntries(
        tries.map(([method, path, allowed]) => [
          `${method} ${path}`,
          allowed.length > 0 ? [...names.filter((name) => allowed.includes(name)), 'host'] : [],
        ]),
      ),
    );
  });

  test('the story: from custom resources and Secrets, each function with its own token', async () => {
    await using cleanup = new AsyncDisposableStack();
    const world = await startWorld({ kubeconfig: plane.kubeConfig.exportConfig(), registrar: 'kwok' });
    cleanup.defer(() => world.close());
    const inventory = world.lab.inventory();
    for (const { name, credentials } of inventory)
      await world.people.core.createNamespacedSecret({
        namespace: home,
        body: {
          metadata: { name },
          stringData: { username: credentials.user, password: credentials.password },
        },
      });

    const address = `etcd://${store.endpoints.map((endpoint) => new URL(endpoint).host).join(',')}`;
    const read = readSettings(['--store', address, '--config', 'resources:'], {});
    if (!('settings' in read)) throw new Error('these settings ask for help');
    const { settings } = read;
    const lines: string[] = [];
    const log = createLog({ level: 'info', format: 'json', stream: { write: (line) => lines.push(line) } });
    let local: LocalSink | undefined;
    const sink = { emit: async (event: BamelEvent) => local?.emit(event) };
    const functions: ServedFunction[] = [];
    for (const { definition, create } of functionTable) {
      const { name } = definition;
      const kubeconfig = inNamespace(await as(name));
      const { deps, close } = await connect({
        settings,
        log,
        kubeconfig,
        watches: permissions[name]?.watches,
      });
      cleanup.defer(close);
      functions.push(create({ ...deps, sink }));
      if (functions.length < functionTable.length) continue;
      const deadLetters = createDeadLetters(deps.inventory.store);
      local = createLocalSink({ functions, clock: deps.clock, log, deadLetters, concurrency: 16 });
    }
    cleanup.defer(() => local?.close());
    const tick = setInterval(
      () => void sink.emit({ type: events.tick, subject: 'everything', data: {} }),
      500,
    );
    cleanup.defer(() => clearInterval(tick));

    const { autoscaler, pools = [], machines = [] } = labConfig(inventory, storyConfig);
    const made: (readonly [kind: string, name: string, spec: object])[] = [
      ['BareMetalAutoscaler', 'all', autoscaler ?? {}],
      ...pools.map(({ name, ...spec }) => ['NodePool', name, spec] as const),
      ...machines.map(({ name, ...spec }) => ['BareMetalNode', name, spec] as const),
    ];
    for (const [kind, name, spec] of made) {
      const object = { apiVersion: 'bamel.dev/v1alpha1', kind, metadata: { name }, spec };
      const { code, body } = await apply(plane.kubeConfig, pathOf(home, kind, name), object);
      expect([code, body.message]).toEqual([201, undefined]);
    }

    await playStory(world);
    for (const machine of ['m-1', 'm-2']) expect(world.commands(machine)).toEqual(['On', 'GracefulShutdown']);
    await eventually(async () => {
      const { body } = await send(plane.kubeConfig, 'GET', pathOf(home, 'BareMetalNode', 'm-1'));
      expect(body).toMatchObject({ status: { state: 'off', powerState: 'off' } });
    });
    // Whoever lacks a right says so.
    expect(lines.filter((line) => /forbidden|not readable|was not written|does not see/i.test(line))).toEqual(
      [],
    );

    // Uninstalled, they leave nothing: finalizers are taken off with the same rights.
    for (const [kind, name] of made) await send(plane.kubeConfig, 'DELETE', pathOf(home, kind, name));
    await eventually(async () => {
      for (const kind of ['BareMetalAutoscaler', 'NodePool', 'BareMetalNode']) {
        const { body } = await send(plane.kubeConfig, 'GET', pathOf(home, kind));
        expect(body.items).toEqual([]);
      }
    }, 60_000);
  }, 300_000);

  test('who lends makes tenants, and nothing that would give it rights', async () => {
    await send(plane.kubeConfig, 'POST', '/api/v1/namespaces', { body: namespaceOf('liqo') });
    for (const object of [...(remoteRbac.provider ?? []), ...providerPolicy] as Bound[])
      await createObject(plane.kubeConfig, movedTo(home, object));
    const discovery = await as('discovery');
    const make = async (path: string, body: object) => (await send(discovery, 'POST', path, { body })).code;
    const secret = (name: string, more = {}) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      ...more,
    });
    const tokenOf = { type: 'kubernetes.io/service-account-token' };
    // Policies take a moment to hold: as long as they do not, this is let through.
    await eventually(
      async () => expect(await make('/api/v1/namespaces', namespaceOf(`other-${Date.now()}`))).toBe(422),
      60_000,
    );
    expect(await make('/api/v1/namespaces', namespaceOf('liqo-tenant-south'))).toBe(201);
    const inTenant = '/api/v1/namespaces/liqo-tenant-south/secrets';
    expect(await make(inTenant, secret('liqo-nonce', tokenOf))).toBe(422);
    expect(await make('/api/v1/namespaces/kube-system/secrets', secret('liqo-nonce'))).toBe(422);
    expect(await make(inTenant, secret('liqo-nonce'))).toBe(201);
    expect((await send(discovery, 'GET', `${inTenant}/liqo-nonce`)).code).toBe(200);
    expect((await send(discovery, 'GET', `${inTenant}/other`)).code).toBe(403);
    expect((await send(discovery, 'DELETE', `${inTenant}/liqo-nonce`)).code).toBe(200);
    // Others are as free as before.
    expect((await send(plane.kubeConfig, 'POST', inTenant, { body: secret('other') })).code).toBe(201);
  }, 120_000);
});

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** As a pod has it: with the namespace it runs in. */
function inNamespace(kubeConfig: KubeConfig): string {
  const config = JSON.parse(kubeConfig.exportConfig()) as { contexts: { context: object }[] };
  return JSON.stringify({
    ...config,
    contexts: config.contexts.map((one) => ({ ...one, context: { ...one.context, namespace: home } })),
  });
}
