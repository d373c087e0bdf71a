import { presets } from '../../../shared/drivers/snmp-pdu/presets.ts';
import { community, startPdu } from '../../../tools/real-stack/snmp-agent.ts';
import { driverContract } from '../contract.ts';
import { machineSpec } from '../harness.ts';

const outlet = '1.3.6.1.4.1.318.1.1.12.3.3.1.1.4.3';
const { on, off } = { on: presets.apc.on.value, off: presets.apc.off.value };

driverContract({
  name: 'snmp-pdu',
  capabilities: { status: true, softOff: false, hardOff: true, bootFromNetwork: false, sensors: false },
  wrongOptions: {
    preset: { preset: 'no-such' },
    outlet: { outlet: 'A3' },
    version: { version: '2' },
    retries: { retries: 11 },
    authProtocol: { authProtocol: 'crc32' },
    privProtocol: { privProtocol: 'rot13' },
    'custom.on.oid': { preset: undefined, custom: { on: { oid: 'outlet', value: 1 } } },
  },
  // A wrong community is not answered at all: that cannot be told from silence.
  lacks: ['refuseCredentials'],
  async start() {
    const pdu = await startPdu();
    pdu.values.set(outlet, off);
    const powers = new Map([
      [on, 'on'],
      [off, 'off'],
    ] as const);
    return {
      spec: machineSpec(`127.0.0.1:${pdu.port}`, {
        powerInterface: 'snmp-pdu',
        options: { preset: 'apc', outlet: 3 },
      }),
      deps: { credentials: async () => ({ community }) },
      power: () => powers.get(Number(pdu.values.get(outlet))) ?? 'unknown',
      become: (power) => void pdu.values.set(outlet, power === 'on' ? on : off),
      commands: () => pdu.writes.length,
      inBetween: () => void pdu.values.set(outlet, 3),
      silence() {
        pdu.fault = 'silent';
      },
      mend() {
        pdu.fault = undefined;
      },
      vanish: () => pdu.close(),
      close: () => pdu.close(),
    };
  },
});
