import { type DriverHarness, driverContract } from '../contract.ts';
import { machineSpec } from '../harness.ts';
import { login, type PlugKind, startPlug, token } from './http-plugs.ts';

const harness = (kind: PlugKind, more: object = {}): DriverHarness => ({
  name: `http, preset ${kind}`,
  capabilities: { status: true, softOff: false, hardOff: true, bootFromNetwork: false, sensors: false },
  wrongOptions: {
    preset: { preset: 'no-such' },
    url: { url: 'ftp://plug' },
    auth: { auth: 'ntlm' },
    channel: { channel: -1 },
    entity: { entity: 'switch' },
    'on.path': { on: { path: 'relative' } },
    'status.off': { status: { path: '/x', on: [1] } },
  },
  async start() {
    const plug = await startPlug(kind, { secured: true });
    const credentials = kind === 'home-assistant' ? { token } : login;
    return {
      spec: machineSpec(plug.url, { powerInterface: 'http', options: { preset: kind, ...more } }),
      deps: { credentials: async () => credentials },
      power: () => plug.power,
      become(power) {
        plug.power = power;
      },
      commands: () => plug.commands,
      inBetween() {
        plug.fault = 'in-between';
      },
      silence() {
        plug.fault = 'silent';
      },
      refuseCredentials() {
        plug.fault = 'locked';
      },
      mend() {
        plug.fault = undefined;
      },
      vanish: () => plug.close(),
      close: () => plug.close(),
    };
  },
});

driverContract(harness('shelly'));
driverContract(harness('shelly-gen1'));
driverContract(harness('tasmota'));
driverContract(harness('home-assistant', { entity: 'switch.plug_3' }));
