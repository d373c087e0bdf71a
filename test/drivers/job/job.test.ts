import { jobName } from '../../../shared/drivers/job/manifest.ts';
import type { NodeEvidence } from '../../../shared/ports/power.ts';
import { driverOf, failing, machineSpec, patient } from '../harness.ts';
import { type JobCluster, startJobs } from './job-cluster.ts';

const startup = {
  metadata: { labels: { app: 'power', 'bamel.dev/machine': 'somebody-else' } },
  spec: {
    containers: [
      {
        name: 'on',
        image: 'example.com/power',
        args: ['on'],
        env: [{ name: 'BAMEL_MACHINE', value: 'other' }],
      },
    ],
  },
};
const shutdown = { spec: { containers: [{ name: 'off', image: 'example.com/power' }] } };

let cluster: JobCluster;
beforeEach(() => {
  cluster = startJobs();
});

const driver = (options: object = {}, node?: NodeEvidence) =>
  driverOf(
    machineSpec('https://10.0.0.7', {
      powerInterface: 'job',
      bmcCredentials: undefined,
      macAddress: '52:54:00:12:34:56',
      options: { startup, shutdown, ...options },
    }),
    { jobs: cluster.jobs, nodeOf: async () => node },
  );

test('a Job is made from the template, with a deadline, no retries, and an end of its keeping', async () => {
  const options = { namespace: 'power', serviceAccountName: 'switch', deadline: '90s', keepFor: '10m' };
  await (await driver(options)).set('on', patient(), 'op-01k9');
  expect(cluster.made).toEqual([
    {
      name: 'op-01k9-on',
      namespace: 'power',
      manifest: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          name: 'op-01k9-on',
          labels: {
            'app.kubernetes.io/managed-by': 'bamel-autoscaler',
            'bamel.dev/machine': 'mini-1',
            'bamel.dev/purpose': 'on',
          },
          annotations: { 'bamel.dev/operation': 'op-01k9' },
        },
        spec: {
          backoffLimit: 0,
          activeDeadlineSeconds: 90,
          ttlSecondsAfterFinished: 600,
          template: {
            metadata: {
              labels: expect.objectContaining({ app: 'power', 'bamel.dev/machine': 'mini-1' }),
            },
            spec: {
              restartPolicy: 'Never',
              serviceAccountName: 'switch',
              containers: [
                {
                  name: 'on',
                  image: 'example.com/power',
                  args: ['on'],
                  // The last of a name counts.
                  env: [
                    { name: 'BAMEL_MACHINE', value: 'other' },
                    { name: 'BAMEL_MACHINE', value: 'mini-1' },
                    { name: 'BAMEL_VERB', value: 'on' },
                    { name: 'BAMEL_OPERATION', value: 'op-01k9' },
                    { name: 'BAMEL_MAC_ADDRESS', value: '52:54:00:12:34:56' },
                    { name: 'BAMEL_ADDRESS', value: '10.0.0.7' },
                  ],
                },
              ],
            },
          },
        },
      },
    },
  ]);
});

test('asked twice in one operation, one Job is made; another operation makes another', async () => {
  const job = await driver();
  await job.set('on', patient(), 'op-1');
  await job.set('on', patient(), 'op-1');
  await job.set('soft-off', patient(), 'op-2');
  expect(cluster.made.map(({ name }) => name)).toEqual(['op-1-on', 'op-2-soft-off']);
});

test.each(['op-01k9', 'OP 1', '../../etc', 'x'.repeat(200), '-o', ''])(
  'fault 36: operation %p gives a name that Kubernetes takes',
  (operation) => {
    expect(jobName(operation, 'on')).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(jobName(operation, 'on')).not.toBe(jobName(operation, 'soft-off'));
  },
);

test('a Job that failed is told with its reason and the end of its log', async () => {
  cluster.state = {
    phase: 'failed',
    message: 'DeadlineExceeded: Job was active longer than specified deadline',
    log: 'connecting to 10.0.0.7\nno route to host\n',
  };
  const error = await failing(async () => (await driver()).set('on', patient(), 'op-1'));
  expect(error).toMatchObject({ code: 'refused', final: false });
  expect(error.message).toBe(
    'mini-1: its Job op-1-on failed (DeadlineExceeded: Job was active longer than specified deadline); it said: connecting to 10.0.0.7 no route to host',
  );
});

test('fault 37: what a log says of passwords is not told, and of a long one only the end', async () => {
  const secrets = [
    'password=canary-9f3c',
    '"token": "canary-9f3c"',
    'Authorization: Bearer canary-9f3c',
    'https://root:canary-9f3c@bmc.lan/',
    'IPMI_PASSWORD: canary-9f3c',
  ];
  cluster.state = { phase: 'failed', log: `${'x'.repeat(5_000)}\n${secrets.join('\n')}\n\x1b[31mthe end` };
  const error = await failing(async () => (await driver()).set('on', patient(), 'op-1'));
  expect(error.message).toMatch(/the end$/);
  expect(error.message).not.toContain('\x1b');
  expect(error.message.length).toBeLessThan(700);
});

test('a Job that still runs is no answer yet', async () => {
  cluster.state = { phase: 'running' };
  await expect((await driver()).set('on', patient(), 'op-1')).resolves.toBeUndefined();
});

describe('a health check', () => {
  const healthCheck = { schedule: '*/2 * * * *', template: shutdown, freshFor: '3m' };
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
  const running: NodeEvidence = { node: 'mini-1', ready: true, heartbeatAgeMs: 0, addresses: [] };

  test.each([
    ['succeeded a moment ago', { phase: 'succeeded', finishedAt: minutesAgo(1) }, undefined, { power: 'on' }],
    [
      'succeeded long ago',
      { phase: 'succeeded', finishedAt: minutesAgo(10) },
      undefined,
      { power: 'unknown' },
    ],
    ['never ran', undefined, undefined, { power: 'unknown' }],
    ['never ran, but its node runs', undefined, running, { power: 'on' }],
    [
      'failed, and there is no node',
      { phase: 'failed', finishedAt: minutesAgo(1) },
      undefined,
      { power: 'off', inferred: true },
    ],
    ['failed, but its node runs', { phase: 'failed', finishedAt: minutesAgo(1) }, running, { power: 'on' }],
  ] as const)('%s', async (_, latest, node, reading) => {
    cluster.latest = latest;
    expect(await (await driver({ healthCheck }, node)).read(patient())).toEqual(reading);
  });

  test('is scheduled once, under a name of its own for each machine, and shows when it was changed', async () => {
    const first = await driver({ healthCheck });
    await first.read(patient());
    await first.read(patient());
    const [made] = cluster.made;
    expect(cluster.made).toHaveLength(1);
    expect(made?.manifest).toMatchObject({
      kind: 'CronJob',
      metadata: { name: expect.stringMatching(/^bamel-health-[0-9a-f]{16}$/) },
      spec: { schedule: '*/2 * * * *', concurrencyPolicy: 'Forbid' },
    });
    const madeFrom = async (options: object) => {
      cluster.made.length = 0;
      await (await driver(options)).read(patient());
      return (cluster.made[0]?.manifest.metadata as { annotations: object } | undefined)?.annotations;
    };
    const before = await madeFrom({ healthCheck });
    expect(await madeFrom({ healthCheck })).toEqual(before);
    expect(await madeFrom({ healthCheck: { ...healthCheck, schedule: '* * * * *' } })).not.toEqual(before);
  });
});
