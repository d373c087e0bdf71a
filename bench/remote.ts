import { CoreV1Api } from '@kubernetes/client-node';
import type { MachineDetail } from '../shared/view/shapes.ts';
import { clearSlices, sliceByHand } from '../tools/real-stack/liqo/liqo-by-hand.ts';
import { isReady } from '../tools/real-stack/nodes.ts';
import { waitFor } from '../tools/real-stack/wait.ts';
import { lentPool, type RemoteWorld, startRemoteWorld } from '../tools/worlds/remote-world.ts';
import type { Table } from './table.ts';

const rounds = 5;
const often = { timeoutMs: 120_000, everyMs: 10 };

/** From the decision to borrow to a Ready node, beside a slice that somebody asks for by hand. */
export async function benchRemote(): Promise<Table> {
  const world = await startRemoteWorld();
  try {
    const ours = await borrowed(world);
    // By then the provider is peered with: what is left is what Liqo takes.
    const byHand = await askedByHand(world);
    const row = (name: string, times: readonly number[]): string[] => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (index: number) => `${((sorted[index] ?? 0) / 1000).toFixed(2)} s`;
      return [name, String(times.length), at(0), at(Math.floor(sorted.length / 2)), at(sorted.length - 1)];
    };
    const [first = { decided: 0, waited: 0, gone: 0 }, ...later] = ours;
    return {
      columns: ['', 'rounds', 'least', 'median', 'most'],
      rows: [
        row('slice by hand → Ready node', byHand),
        row('decision → Ready node, peering included', [first.decided]),
        row(
          'decision → Ready node',
          later.map(({ decided }) => decided),
        ),
        row(
          'pod taken by the API server → Ready node',
          later.map(({ waited }) => waited),
        ),
        row(
          'pod deleted → nothing is lent any more',
          later.map(({ gone }) => gone),
        ),
      ],
      notes: [
        'Real Liqo 1.0.1 without its network on three real control planes, all on this machine.',
        'For Liqo alone, driven by plain HTTPS calls, 1.1 to 2.2 s were measured elsewhere, peering included.',
      ],
    };
  } finally {
    await world.close();
  }
}

interface Round {
  readonly decided: number;
  readonly waited: number;
  readonly gone: number;
}

async function borrowed(world: RemoteWorld): Promise<Round[]> {
  const people = await world.peopleOf('bench');
  const borrower = await world.borrow('bench', [lentPool()]);
  const host = await borrower.start({ logLevel: 'info' });
  await people.deploy('web', 0, { cpu: '2', memory: '1Gi' });
  const done: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const asked = Date.now();
    await people.scale('web', 1);
    const { node, at } = await readyNode(world, (name) => name !== 'control-1');
    const answer = await fetch(`${host.url}/api/machines/${node}`);
    const { operations } = (await answer.json()) as MachineDetail;
    const decidedAt = operations.find(({ goal }) => goal === 'on')?.createdAt ?? Number.NaN;
    await waitFor('the pod runs', async () => (await people.running('web'))[0], often);
    const left = Date.now();
    await people.scale('web', 0);
    await waitFor('nothing lent', async () => (await world.borrowed()).length === 0 || undefined, often);
    await waitFor('no node', async () => (await people.nodes()).length === 1 || undefined, often);
    done.push({ decided: at - decidedAt, waited: at - asked, gone: Date.now() - left });
  }
  await borrower.close();
  return done;
}

async function askedByHand(world: RemoteWorld): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = `by-hand-${round}`;
    const asked = Date.now();
    await sliceByHand(world.consumer, 'north', name, { cpu: '2', memory: '1Gi', pods: '10' });
    times.push((await readyNode(world, (node) => node === name)).at - asked);
    await clearSlices(world.consumer, [world.north]);
  }
  return times;
}

function readyNode({ consumer }: RemoteWorld, which: (name: string) => boolean) {
  const core = consumer.plane.kubeConfig.makeApiClient(CoreV1Api);
  return waitFor(
    'a Ready node',
    async () => {
      const { items } = await core.listNode();
      const found = items.find((node) => which(node.metadata?.name ?? '') && isReady(node));
      return found && { node: found.metadata?.name ?? '', at: Date.now() };
    },
    often,
  );
}
