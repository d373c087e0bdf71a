import * as client from '@kubernetes/client-node';
import { createKubeClient } from '../../shared/adapters/kubernetes/client.ts';
import { toNode } from '../../shared/adapters/kubernetes/convert.ts';
import { kubeJobs } from '../../shared/adapters/kubernetes/jobs.ts';
import { nodeEvidence } from '../../shared/adapters/kubernetes/node-evidence.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import type { DriverDeps, PowerDriver } from '../../shared/ports/power.ts';
import { realClock } from '../../shared/process/clock.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { hostRole } from '../../tools/real-stack/host-role.ts';
import { addLogNode } from '../../tools/real-stack/log-node.ts';
import { addNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { driverOf, failing, machineSpec, patient } from '../drivers/harness.ts';
import { closing } from '../support/cleanup.ts';

const merge = client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch);
const namespace = 'default';
const container = { name: 'power', image: 'example.com/power' };
const template = (spec: object = {}) => ({ spec: { containers: [container], ...spec } });
const nowhere = template({ nodeSelector: { 'example.com/there-is': 'none' } });

describeWith([...controlPlanePrograms, 'openssl'], 'the job driver on a real cluster', () => {
  let plane: ControlPlane;
  let batch: client.BatchV1Api;
  let core: client.CoreV1Api;
  beforeAll(async () => {
    plane = await startControlPlane();
    const { kubeConfig } = plane;
    batch = kubeConfig.makeApiClient(client.BatchV1Api);
    core = kubeConfig.makeApiClient(client.CoreV1Api);
    const rbac = kubeConfig.makeApiClient(client.RbacAuthorizationV1Api);
    const role = hostRole();
    await rbac.createClusterRole({ body: role });
    await rbac.createClusterRoleBinding({
      body: {
        metadata: { name: 'bamel' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: role.metadata?.name ?? '',
        },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bamel' }],
      },
    });
    await addNode(kubeConfig, 'worker');
  }, 600_000);
  afterAll(() => plane?.close());

  const reach = (user: string): Partial<DriverDeps> => {
    const kube = createKubeClient(kubeTransport(plane.as(user)), { readMs: 10_000, writeMs: 10_000 });
    const view = async () => ({ pods: [], nodes: (await core.listNode()).items.map(toNode) });
    return { jobs: kubeJobs(kube), nodeOf: nodeEvidence({ view }, kube, realClock) };
  };
  /** As somebody who may do what the docs say, and no more. */
  const driver = (options: object, { user = 'bamel', name = 'worker' } = {}): Promise<PowerDriver> =>
    driverOf(
      machineSpec('10.0.0.7', {
        name,
        powerInterface: 'job',
        bmcCredentials: undefined,
        options: { ...options },
      }),
      reach(user),
    );
  const jobsOf = async (operation: string) =>
    (await batch.listNamespacedJob({ namespace })).items.filter(
      ({ metadata }) => metadata?.annotations?.['bamel.dev/operation'] === operation,
    );
  /** What asking again says once the Job has failed. */
  const failureOf = (job: PowerDriver, operation: string) =>
    eventually(() => failing(() => job.set('on', patient(), operation)), 60_000);

  test('asked three times there is one Job; its pod runs with what it must know, and succeeds', async () => {
    const job = await driver({ startup: template(), shutdown: template() });
    for (let times = 0; times < 3; times += 1) await job.set('on', patient(), 'op-once');
    const [made, ...more] = await jobsOf('op-once');
    expect(more).toEqual([]);
    expect(made?.spec).toMatchObject({
      backoffLimit: 0,
      activeDeadlineSeconds: 300,
      ttlSecondsAfterFinished: 3600,
    });
    await eventually(async () =>
      expect(await reach('bamel').jobs?.read(namespace, 'op-once-on')).toMatchObject({
        phase: 'succeeded',
        finishedAt: expect.any(Number),
      }),
    );
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'bamel.dev/purpose=on' });
    expect(items[0]?.spec?.containers[0]?.env).toEqual(
      expect.arrayContaining([
        { name: 'BAMEL_MACHINE', value: 'worker' },
        { name: 'BAMEL_ADDRESS', value: '10.0.0.7' },
        { name: 'BAMEL_OPERATION', value: 'op-once' },
      ]),
    );
    await job.set('soft-off', patient(), 'op-once');
    expect((await jobsOf('op-once')).map(({ metadata }) => metadata?.name).sort()).toEqual([
      'op-once-on',
      'op-once-soft-off',
    ]);
  });

  test('a Job that failed is told with the end of its log, secrets left out', async () => {
    const log = 'connecting\npassword=canary-9f3c\nno route to host\n';
    const kubelet = closing(await addLogNode(plane.kubeConfig, 'kubelet', log));
    const job = await driver({ startup: template({ nodeName: kubelet.name }) });
    await job.set('on', patient(), 'op-fails');
    const pod = await eventually(async () => {
      const labelSelector = 'batch.kubernetes.io/job-name=op-fails-on';
      const [found] = (await core.listNamespacedPod({ namespace, labelSelector })).items;
      if (!found?.metadata?.name) throw new Error('no pod yet');
      return found.metadata.name;
    });
    const terminated = { exitCode: 7, reason: 'Error' };
    const state = { ...container, ready: false, restartCount: 0, imageID: '', state: { terminated } };
    await core.patchNamespacedPodStatus(
      { namespace, name: pod, body: { status: { phase: 'Failed', containerStatuses: [state] } } },
      merge,
    );
    const error = await failureOf(job, 'op-fails');
    expect(error).toMatchObject({ code: 'refused', final: false });
    expect(error.message).toContain('worker: its Job op-fails-on failed (BackoffLimitExceeded');
    expect(error.message).toMatch(/it said: connecting password=\[redacted\] no route to host$/);
    expect(kubelet.asked.at(-1)).toContain('tailLines=20');
    expect(kubelet.asked.at(-1)).toContain('limitBytes=4096');
  });

  test('a Job past its deadline has failed, and says so', async () => {
    const job = await driver({ startup: nowhere, deadline: '1s' });
    await job.set('on', patient(), 'op-late');
    expect((await failureOf(job, 'op-late')).message).toContain('DeadlineExceeded');
  });

  test('a finished Job is kept for a while, then goes', async () => {
    const job = await driver({ startup: template(), keepFor: '1s' });
    await job.set('on', patient(), 'op-short');
    expect(await jobsOf('op-short')).toHaveLength(1);
    await eventually(async () => expect(await jobsOf('op-short')).toEqual([]), 60_000);
    expect(await reach('bamel').jobs?.read(namespace, 'op-short-on')).toBeUndefined();
  });

  test('what cannot be is a mistake to mend; what is not allowed is refused', async () => {
    const twice = { spec: { containers: [container, container] } };
    const on = async (options: object, user?: string) =>
      failing(async () => (await driver(options, user ? { user } : {})).set('on', patient(), 'op-wrong'));
    expect(await on({ startup: twice })).toMatchObject({
      code: 'config',
      message: expect.stringContaining('Duplicate value'),
    });
    expect(await on({ startup: template(), namespace: 'not-there' })).toMatchObject({ code: 'config' });
    expect(await on({ startup: template() }, 'stranger')).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('cannot create resource "jobs"'),
    });
  });

  test('a Job of somebody else under our name is not taken for ours', async () => {
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [container] } } };
    await batch.createNamespacedJob({ namespace, body: { metadata: { name: 'op-taken-on' }, spec } });
    const job = await driver({ startup: template() });
    const error = await failing(() => job.set('on', patient(), 'op-taken'));
    expect(error).toMatchObject({
      code: 'config',
      message: expect.stringContaining('not of this operation'),
    });
  });

  test('a health check runs by itself, tells on, and is brought up to date when it changes', async () => {
    const check = (schedule: string) => ({
      startup: template(),
      healthCheck: { schedule, template: template() },
    });
    const machine = { name: 'not-a-node' };
    const daily = await driver(check('0 0 * * *'), machine);
    expect(await daily.read(patient())).toEqual({ power: 'unknown' });
    const often = await driver(check('* * * * *'), machine);
    await often.read(patient());
    const { items } = await batch.listNamespacedCronJob({ namespace });
    expect(items.map(({ spec }) => spec?.schedule)).toEqual(['* * * * *']);
    await eventually(async () => expect(await often.read(patient())).toEqual({ power: 'on' }), 120_000);
  });

  test('the node is the witness: on while it is heard of, off only when its lease has run out', async () => {
    await addNode(plane.kubeConfig, 'witness');
    const job = await driver({ startup: template() }, { name: 'witness' });
    expect(await (await driver({ startup: template() }, { name: 'never' })).read(patient())).toEqual({
      power: 'off',
      inferred: true,
    });
    await eventually(async () => expect(await job.read(patient())).toEqual({ power: 'on' }));
    plane.kwok.stop();
    try {
      const readings = new Set<string>();
      await eventually(async () => {
        const { power, inferred } = await job.read(patient());
        readings.add(power);
        expect({ power, inferred }).toEqual({ power: 'off', inferred: true });
      }, 120_000);
      expect(readings).toContain('unknown');
    } finally {
      plane.kwok.cont();
    }
  });

  test('without the API server the power is unknown', async () => {
    const job = await driver({ startup: template() });
    await plane.apiServer.kill();
    try {
      expect(await failing(() => job.set('on', patient(), 'op-down'))).toMatchObject({
        code: 'unreachable',
        final: false,
      });
    } finally {
      await plane.apiServer.restart();
    }
  });
});
