import { KubeConfig } from '@kubernetes/client-node';
import { connect } from '../../apps/host/connect.ts';
import { type Host, startHost } from '../../apps/host/host.ts';
import { wakeOnCluster } from '../../apps/host/wake-on-cluster.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { labConfig, labCredentials } from '../../simulator/lab/config.ts';
import { startLab } from '../../simulator/lab/lab.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { send } from '../../tools/worlds/cluster-client.ts';
import { workloadsOf } from '../../tools/worlds/workload.ts';
import { apply, install, pathOf } from './definitions.ts';

test('the whole host on custom resources: powered on for a pod; deleted with power-off, drained, off and gone', async () => {
  await using cleanup = new AsyncDisposableStack();
  const lab = await startLab({
    machines: [{ name: 'm-1', cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 1 }],
    speed: 40,
  });
  cleanup.defer(() => lab.stop());
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(lab.kubeconfig);
  await install(kubeConfig);

  const read = readSettings(['--store', 'embedded:', '--config', 'resources:'], {});
  if (!('settings' in read)) throw new Error('these settings ask for help');
  let host: Host | undefined;
  const { deps, close } = await connect({
    settings: read.settings,
    log: createLog({ level: 'silent', format: 'json' }),
    kubeconfig: lab.kubeconfig,
    credentials: labCredentials(lab.inventory()),
    ...wakeOnCluster((event) => void host?.emit(event)),
  });
  cleanup.defer(close);
  host = await startHost({
    deps,
    serve: { host: '127.0.0.1', port: 0 },
    metrics: createMetrics(),
    tickMs: 500,
  });
  cleanup.defer(() => host?.close() ?? Promise.resolve());

  const { autoscaler, pools = [], machines = [] } = labConfig(lab.inventory());
  const resource = async (kind: string, name: string, spec: object) => {
    const body = { apiVersion: 'bamel.dev/v1alpha1', kind, metadata: { name }, spec };
    const answer = await apply(kubeConfig, pathOf('default', kind, name), body);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  };
  await resource('BareMetalAutoscaler', 'home', { ...autoscaler, deletionPolicy: 'power-off' });
  for (const { name, ...spec } of pools) await resource('NodePool', name, spec);
  for (const { name, ...spec } of machines) await resource('BareMetalNode', name, spec);
  const shown = async (kind: string, name: string) => {
    const { code, body } = await send(kubeConfig, 'GET', pathOf('default', kind, name));
    return code === 200 ? (body as unknown as { status?: Record<string, unknown> }).status : 'gone';
  };

  const people = workloadsOf(lab.kubeconfig, 'people');
  await people.createNamespace();
  await people.deploy('web', 1, { cpu: '2', memory: '1Gi' });
  await eventually(
    async () =>
      expect(await shown('BareMetalNode', 'm-1')).toMatchObject({
        state: 'ready',
        powerState: 'on',
        nodeReady: true,
      }),
    90_000,
  );
  await eventually(async () =>
    expect(await shown('NodePool', 'default')).toMatchObject({ readyNodes: 1, health: 'healthy' }),
  );

  const all = [
    ['BareMetalAutoscaler', 'home'],
    ['NodePool', 'default'],
    ['BareMetalNode', 'm-1'],
  ] as const;
  for (const [kind, name] of all) await send(kubeConfig, 'DELETE', pathOf('default', kind, name));
  await eventually(async () => {
    for (const [kind, name] of all) expect([kind, await shown(kind, name)]).toEqual([kind, 'gone']);
  }, 90_000);
  expect(lab.machines.get('m-1')?.machine.commands?.map(({ verb }) => verb)).toEqual([
    'On',
    'GracefulShutdown',
  ]);
  expect(await deps.inventory.machines()).toEqual([]);
});
