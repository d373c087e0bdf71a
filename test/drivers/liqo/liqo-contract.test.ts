import { driverContract } from '../contract.ts';
import { provider, startLiqoWorld } from './liqo-world.ts';

driverContract({
  name: 'liqo',
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: false, sensors: true },
  wrongOptions: {
    clusterID: { clusterID: 'Neighbour!' },
    class: { class: 'a b' },
    liqoNamespace: { liqoNamespace: '../liqo' },
    'tls.caFile': { tls: { caFile: '' } },
  },
  lacks: ['refuseCredentials'],
  async start() {
    const world = await startLiqoWorld();
    const power = () => {
      const parts = world.there().length;
      if (parts === 0) return 'off';
      return parts === 3 ? 'on' : 'unknown';
    };
    return {
      spec: world.spec,
      deps: { objects: world.objects },
      power,
      become: world.become,
      commands: () => world.writes.filter((write) => write.includes('/resourceslices')).length,
      async inBetween() {
        await world.become('on');
        world.liqo.provider(provider).setReachable(false);
        await (await world.driver()).set('soft-off', AbortSignal.timeout(30_000), 'op');
      },
      silence() {
        world.fault = 'silent';
      },
      mend() {
        world.fault = undefined;
      },
      vanish() {
        world.fault = 'gone';
      },
      close: world.close,
    };
  },
});
