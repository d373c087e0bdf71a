import { startEtcd } from '../tools/real-stack/etcd.ts';
import { findProgram } from '../tools/support/programs.ts';
import { startWorld } from '../tools/worlds/story.ts';
import type { Table } from './table.ts';

const rounds = 5;
/** Three times the lab's BMC time-out. */
const ttlMs = 6_000;

/** Two hosts on one etcd; the one that holds a machine is killed just before its command: when does the other send it? */
export async function benchTakeover(): Promise<Table> {
  const columns = ['', 'lease TTL', 'from the kill to the power command', '× TTL'];
  if (!findProgram('etcd'))
    return { columns, rows: [], notes: ['skipped: no etcd found; npm run test:real builds it'] };
  const rows: string[][] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const etcd = await startEtcd();
    const world = await startWorld();
    try {
      const store = `etcd://${new URL(etcd.endpoints[0] ?? '').host}`;
      const doomed = await world.startHost(store, { failpoint: 'power-before-command-on', tick: '10s' });
      await world.people.deploy('web', 1, { cpu: '3' });
      await doomed.ended;
      const killedAt = Date.now();
      await world.startHost(store, { tick: '10s' });
      const machine = world.lab.machines.get('m-1')?.machine;
      while (machine?.commands.length === 0 && Date.now() - killedAt < 60_000)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const took = (machine?.commands[0]?.at ?? Number.POSITIVE_INFINITY) - killedAt;
      rows.push([
        `round ${round}`,
        `${ttlMs / 1000} s`,
        `${(took / 1000).toFixed(2)} s`,
        (took / ttlMs).toFixed(2),
      ]);
    } finally {
      await world.close();
      await etcd.close();
    }
  }
  return {
    columns,
    rows,
    notes: ['The tick is 10 s: it is waiting for the lease that makes the takeover quick.'],
  };
}
