import { startIpmiSim } from '../../../tools/real-stack/ipmi/ipmi-sim.ts';
import { createIpmitool } from '../../../tools/real-stack/ipmi/ipmitool.ts';
import { driverContract } from '../../drivers/contract.ts';
import { credentials, machineSpec } from '../../drivers/harness.ts';

driverContract({
  name: 'ipmi on ipmi_sim',
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
  wrongOptions: { cipherSuites: { cipherSuites: [0] } },
  // IPMI knows on and off and nothing in between.
  lacks: ['inBetween'],
  programs: ['ipmi_sim', 'ipmitool'],
  async start() {
    const sim = await startIpmiSim({ credentials, guid: 'a123456789abcdefa123456789abcdef' });
    const ipmitool = createIpmitool({ ...credentials, port: sim.port, suite: 3 });
    let there = true;
    const close = async () => {
      if (there) await sim.close();
      there = false;
    };
    return {
      spec: machineSpec(`127.0.0.1:${sim.port}`, {
        powerInterface: 'ipmi',
        options: { retransmitAfter: '100ms' },
      }),
      power: () => sim.power(),
      become: (power) => sim.become(power),
      commands: () => sim.commands().length,
      silence: () => sim.freeze(),
      mend: () => sim.thaw(),
      refuseCredentials: async () => void (await ipmitool('user', 'set', 'password', '2', 'another')),
      vanish: close,
      close,
    };
  },
});
