import { describeWith } from '../../../tools/support/programs.ts';
import { type DriverHarness, driverContract } from '../contract.ts';
import { driverOf, machineSpec, patient } from '../harness.ts';
import { startIpmiBmc } from './ipmi-bmc.ts';

/** IPMI knows on and off and nothing in between. */
const harness: Omit<DriverHarness, 'name' | 'start'> = {
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
  wrongOptions: {
    cipherSuites: { cipherSuites: [0] },
    privilege: { privilege: 'root' },
    retransmitAfter: { retransmitAfter: 1 },
    retransmitTries: { retransmitTries: 0 },
    bootMode: { bootMode: 'bios' },
    port: { port: 70_000 },
    tool: { tool: 'sh' },
  },
  lacks: ['inBetween'],
};

const start = async (options: Record<string, unknown>) => {
  const bmc = await startIpmiBmc();
  let there = true;
  const close = async () => {
    if (there) await bmc.close();
    there = false;
  };
  return {
    spec: machineSpec(`ipmi://127.0.0.1:${bmc.port}`, { powerInterface: 'ipmi', options }),
    power: () => (bmc.chassis.on ? ('on' as const) : ('off' as const)),
    become(power: 'on' | 'off') {
      bmc.chassis.on = power === 'on';
    },
    commands: () => bmc.received.filter((name) => name === '00.02').length,
    silence() {
      bmc.silent = true;
    },
    refuseCredentials() {
      bmc.password = 'another';
    },
    mend() {
      bmc.silent = false;
    },
    vanish: close,
    close,
  };
};

driverContract({
  name: 'ipmi on a fake BMC',
  ...harness,
  start: () => start({ retransmitAfter: '100ms' }),
});

driverContract({
  name: 'ipmi by ipmitool on a fake BMC',
  ...harness,
  capabilities: { ...harness.capabilities, sensors: false },
  programs: ['ipmitool'],
  start: () => start({ tool: 'ipmitool', retransmitAfter: '1s', retransmitTries: 1 }),
});

describeWith(['ipmitool'], 'ipmi by ipmitool', () => {
  test.each(['00112233-4455-6677-8899-aabbccddeeff', '33221100-5544-7766-8899-aabbccddeeff'])(
    'the machine is known by its UUID in either order: %s',
    async (systemUUID) => {
      const { spec, close } = await start({ tool: 'ipmitool' });
      const driver = await driverOf({ ...spec, systemUUID });
      expect(await driver.read(patient())).toEqual({ power: 'off', systemUUID });
      await close();
    },
  );
});
