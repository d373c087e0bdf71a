import type { NodeEvidence } from '../../../shared/ports/power.ts';
import { type DriverHarness, driverContract } from '../contract.ts';
import { machineSpec } from '../harness.ts';
import { startJobs } from './job-cluster.ts';

const template = (name: string) => ({ spec: { containers: [{ name, image: 'example.com/power' }] } });

const harness = (healthCheck?: object): DriverHarness => ({
  name: healthCheck ? 'job with a health check' : 'job',
  capabilities: {
    status: healthCheck !== undefined,
    softOff: true,
    hardOff: false,
    bootFromNetwork: false,
    sensors: false,
  },
  wrongOptions: {
    startup: { startup: { spec: { containers: [] } } },
    shutdown: { shutdown: { spec: {} } },
    deadline: { deadline: '5 minutes' },
    retries: { retries: -1 },
    namespace: { namespace: 'kube system' },
    'healthCheck.schedule': { healthCheck: { schedule: 'hourly', template: template('ping') } },
  },
  connects: false,
  lacks: ['refuseCredentials'],
  async start() {
    let power: 'on' | 'off' | 'unknown' = 'off';
    const cluster = startJobs((verb) => {
      power = verb === 'on' ? 'on' : 'off';
      checked();
    });
    // The health check has run again whenever the power changed.
    const checked = () => {
      cluster.latest = { phase: power === 'on' ? 'succeeded' : 'failed', finishedAt: Date.now() };
    };
    checked();
    const node = (): NodeEvidence | undefined =>
      power === 'off'
        ? undefined
        : { node: 'mini-1', ready: power === 'on', heartbeatAgeMs: 0, addresses: [] };
    return {
      spec: machineSpec('10.0.0.7', {
        powerInterface: 'job',
        bmcCredentials: undefined,
        options: {
          startup: template('on'),
          shutdown: template('off'),
          ...(healthCheck && { healthCheck }),
        },
      }),
      deps: { jobs: cluster.jobs, nodeOf: async () => node() },
      power: () => power,
      become(wanted) {
        power = wanted;
        checked();
      },
      commands: () => cluster.made.filter(({ manifest }) => manifest.kind === 'Job').length,
      inBetween() {
        power = 'unknown';
        checked();
      },
      silence() {
        cluster.fault = 'silent';
      },
      mend() {
        cluster.fault = undefined;
      },
      vanish() {
        cluster.fault = 'gone';
      },
      close: () => undefined,
    };
  },
});

driverContract(harness());
driverContract(harness({ schedule: '* * * * *', template: template('ping') }));
