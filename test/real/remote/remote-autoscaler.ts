import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../../tools/real-stack/ports.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { launchAutoscaler } from '../../../tools/worlds/cluster-autoscaler-world.ts';
import { lentPool, type RemoteWorld } from '../../../tools/worlds/remote-world.ts';
import { onStage } from './remote-stage.ts';

const budget = 8 * 0.1 + 4 * 0.2;

/** The stock Cluster Autoscaler decides; to it what others lend is a node group like any other. */
export async function playAutoscaled(world: RemoteWorld): Promise<void> {
  const { authority, consumer } = world;
  const [grpcPort = 0] = await freePorts(1);
  const server = authority.issueServer('bamel');
  const client = authority.issueClient('cluster-autoscaler');
  const grpc = ['--grpc-cert', server.cert, '--grpc-key', server.key, '--grpc-ca', authority.cert];
  const pool = lentPool({
    managedBy: 'clusterAutoscaler',
    template: { maxSize: { cpu: 4, memory: '8Gi' } },
    // Of the three that are needed. The Cluster Autoscaler may ask for a fourth while a node has just become Ready.
    limits: { hourlyCost: budget },
  });
  const host = { args: ['--grpc-port', String(grpcPort), ...grpc] };
  await onStage(world, { name: 'autoscaled', pools: [pool], budget, host }, async (stage) => {
    const name = 'cluster-autoscaler-remote';
    const program = await launchAutoscaler({
      name,
      plane: consumer.plane,
      folder: consumer.plane.logs,
      address: `127.0.0.1:${grpcPort}`,
      files: { cert: client.cert, key: client.key, cacert: authority.cert },
    });
    try {
      await stage.people.deploy('web', 3, { cpu: '3', memory: '1Gi' });
      await eventually(
        async () => expect(await stage.where('web')).toEqual(['north', 'north', 'south']),
        180_000,
      );
      await stage.people.scale('web', 0);
      await stage.everythingGivenBack();
      const said = readFileSync(join(consumer.plane.logs, `${name}.log`), 'utf8');
      expect(said).not.toContain('Decreasing size of');
    } finally {
      await program.kill();
    }
  });
}
