import type { Capabilities } from '../../../shared/ports/power.ts';
import { type DriverHarness, driverContract } from '../contract.ts';
import { machineSpec } from '../harness.ts';
import { startPlug } from '../http/http-plugs.ts';
import { startJobs } from '../job/job-cluster.ts';
import { loopbackBroadcast, startSleepingHost } from './wol-host.ts';

const macAddress = '52:54:00:12:34:56';
const blind: Capabilities = {
  status: false,
  softOff: false,
  hardOff: false,
  bootFromNetwork: false,
  sensors: false,
};

/** A packet is not answered, so that there is nobody to be silent, to refuse or to be missed. */
const common = {
  lacks: ['silence', 'refuseCredentials', 'vanish'],
  wrongOptions: {
    broadcast: { broadcast: '10.0.0.256' },
    port: { port: 0 },
    repeat: { repeat: 0 },
    interface: { interface: '-oProxy rm' },
    'probe.port': { probe: { port: '22' } },
    off: { off: {} },
  },
} satisfies Partial<DriverHarness>;

driverContract({
  ...common,
  name: 'wol',
  capabilities: blind,
  async start() {
    const host = await startSleepingHost(macAddress, Buffer.from('cafecafe', 'hex'));
    return {
      spec: machineSpec('', {
        powerInterface: 'wol',
        macAddress,
        mgmtAddress: undefined,
        options: { broadcast: loopbackBroadcast, port: host.port },
      }),
      deps: { credentials: async () => ({ secureOn: 'ca:fe:ca:fe' }), nodeOf: async () => host.node() },
      power: () => host.power,
      become(power) {
        host.power = power;
      },
      commands: () => host.packets.length,
      inBetween() {
        host.power = 'unknown';
      },
      close: () => host.close(),
    };
  },
});

driverContract({
  ...common,
  name: 'wol with a smart plug',
  capabilities: { ...blind, status: true, hardOff: true },
  async start() {
    const host = await startSleepingHost(macAddress);
    const plug = await startPlug('shelly-gen1');
    const isOn = () => plug.power === 'on' && host.power === 'on';
    return {
      spec: machineSpec('', {
        powerInterface: 'wol',
        macAddress,
        mgmtAddress: undefined,
        bmcCredentials: undefined,
        options: {
          broadcast: loopbackBroadcast,
          port: host.port,
          off: { http: { preset: 'shelly-gen1', url: plug.url } },
        },
      }),
      // A node without current is soon gone.
      deps: { nodeOf: async () => (plug.power === 'on' ? host.node() : undefined) },
      power: () => (isOn() ? 'on' : 'off'),
      become(power) {
        host.power = power;
        plug.power = power;
      },
      commands: () => host.packets.length + plug.commands,
      inBetween() {
        plug.power = 'on';
        host.power = 'unknown';
      },
      async close() {
        await host.close();
        await plug.close();
      },
    };
  },
});

driverContract({
  ...common,
  name: 'wol with a Job that shuts it down',
  capabilities: { ...blind, softOff: true },
  async start() {
    const host = await startSleepingHost(macAddress);
    const cluster = startJobs((verb) => {
      host.power = verb === 'on' ? 'on' : 'off';
    });
    const shutdown = { spec: { containers: [{ name: 'ssh', image: 'example.com/ssh' }] } };
    return {
      spec: machineSpec('', {
        powerInterface: 'wol',
        macAddress,
        mgmtAddress: undefined,
        bmcCredentials: undefined,
        options: { broadcast: loopbackBroadcast, port: host.port, off: { job: { shutdown } } },
      }),
      deps: { nodeOf: async () => host.node(), jobs: cluster.jobs },
      power: () => host.power,
      become(power) {
        host.power = power;
      },
      commands: () => host.packets.length + cluster.made.length,
      inBetween() {
        host.power = 'unknown';
      },
      close: () => host.close(),
    };
  },
});
