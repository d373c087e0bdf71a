import { eventually } from '../../tools/support/eventually.ts';
import type { HostOptions, HostProcess } from '../../tools/support/host-process.ts';
import { type Caller, callerOf } from '../../tools/worlds/cluster-autoscaler-client.ts';
import type { World } from '../../tools/worlds/story.ts';

/** A host that serves the Cluster Autoscaler on some port. */
export async function startServingHost(
  world: World,
  store: string,
  options: HostOptions = {},
): Promise<{ readonly host: HostProcess; readonly caller: Caller }> {
  const host = await world.startHost(store, { ...options, args: ['--grpc-port', '0'] });
  const port = await eventually(() => {
    const line = host.lines.find((text) => text.includes('"msg":"serving the Cluster Autoscaler"'));
    const found = /"port":(\d+)/.exec(line ?? '')?.[1];
    if (!found) throw new Error(`not serving yet: ${host.lines.at(-1)}`);
    return found;
  });
  return { host, caller: callerOf(`127.0.0.1:${port}`) };
}
