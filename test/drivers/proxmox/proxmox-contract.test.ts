import { driverContract } from '../contract.ts';
import { machineSpec } from '../harness.ts';
import { ProxmoxFake } from './proxmox-fake.ts';

const verbs = /^POST .*\/status\/(start|shutdown|stop)$/;

driverContract({
  name: 'proxmox',
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: false, sensors: false },
  wrongOptions: {
    vmid: { vmid: 7 },
    'tls.caFile': { vmid: 120, tls: { caFile: '' } },
    nodes: { vmid: 120, nodes: ['../pve'] },
    'vmIDRange.lower': { vmIDRange: { lower: 300, upper: 200 } },
    managedTag: { vmid: 120, managedTag: 'a b' },
    template: { vmid: 120, template: {} },
    networkInterfaces: { vmid: 120, networkInterfaces: [{ name: 'eth0' }] },
    shutdownTimeout: { vmid: 120, shutdownTimeout: 0 },
  },
  // A VM runs or it does not: Proxmox knows nothing in between.
  lacks: ['inBetween'],
  async start() {
    const pve = await new ProxmoxFake().start();
    const { token } = pve;
    const vm = pve.add(120, 'pve1');
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= pve.close();
      return closed;
    };
    return {
      spec: machineSpec(pve.url, { powerInterface: 'proxmox', options: { vmid: 120 } }),
      deps: { credentials: async () => ({ tokenId: 'bamel@pve!scaler', tokenSecret: 'canary-9f3c' }) },
      power: () => (vm.running ? 'on' : 'off'),
      become: (power) => {
        vm.running = power === 'on';
      },
      commands: () => pve.calls.filter((call) => verbs.test(call)).length,
      silence: () => {
        pve.silent = true;
      },
      refuseCredentials: () => {
        pve.token = 'bamel@pve!scaler=another';
      },
      mend: () => {
        pve.silent = false;
        pve.token = token;
      },
      vanish: close,
      close,
    };
  },
});
