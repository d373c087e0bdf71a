import { startBmc } from '../../../simulator/lab/rack/bmc.ts';
import { manualClock } from '../../../simulator/lab/rack/clock.ts';
import { SimulatedMachine } from '../../../simulator/lab/rack/machine.ts';
import { type DriverHarness, driverContract } from '../contract.ts';
import { credentials, machineSpec } from '../harness.ts';

const minute = 60_000;
const powers = { On: 'on', Off: 'off', PoweringOn: 'unknown', PoweringOff: 'unknown' } as const;

const harness = (options: Record<string, unknown>): Omit<DriverHarness, 'name'> => ({
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
  wrongOptions: {
    system: { system: 'Systems/1' },
    auth: { auth: 'digest' },
    bootMode: { bootMode: 'BIOS' },
    'tls.fingerprint': { tls: { fingerprint: 'sha1:00' } },
    'tls.insecure': { tls: { insecure: 'yes' } },
  },
  async start() {
    const clock = manualClock();
    const { username: user, password } = credentials;
    const machine = new SimulatedMachine(
      { name: 'mini-1', cpu: 4, memory: '8Gi', credentials: { user, password } },
      clock,
    );
    const bmc = await startBmc(machine, { sessionLimit: 1 });
    let there = true;
    const close = async () => {
      machine.stop();
      if (there) await bmc.close();
      there = false;
    };
    return {
      spec: machineSpec(bmc.url, { options }),
      power() {
        clock.advance(minute);
        return powers[machine.powerState];
      },
      become(power) {
        machine.pressButton(power);
        clock.advance(2 * minute);
      },
      commands: () => machine.commands.filter(({ verb }) => !verb.startsWith('button')).length,
      inBetween() {
        machine.pressButton('off');
        machine.pressButton('on');
      },
      silence: () => void machine.faults.set({ fault: 'hang' }),
      refuseCredentials: () => void machine.faults.set({ fault: 'wrong-credentials' }),
      mend: () => machine.faults.clear(),
      vanish: close,
      close,
    };
  },
});

driverContract({ name: 'redfish on the lab BMC', ...harness({}) });
driverContract({ name: 'redfish on the lab BMC, with sessions', ...harness({ auth: 'session' }) });
