import { CoreV1Api } from '@kubernetes/client-node';
import type { ConfigInput } from '../../../shared/schema/config.ts';
import type { MachineView } from '../../../shared/view/shapes.ts';
import { clearSlices } from '../../../tools/real-stack/liqo/liqo-by-hand.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import type { HostOptions, HostProcess } from '../../../tools/support/host-process.ts';
import type { ProviderName, RemoteWorld } from '../../../tools/worlds/remote-world.ts';
import type { Workloads } from '../../../tools/worlds/workload.ts';

export interface Stage {
  readonly world: RemoteWorld;
  readonly people: Workloads;
  /** The one that runs now. */
  readonly host: HostProcess;
  start(options?: HostOptions): Promise<HostProcess>;
  machines(): Promise<MachineView[]>;
  /** Until then the cheapest one may be missing: they come one after the other. */
  offersKnown(): Promise<void>;
  /** At whose clusters the pods of an app run, as our own cluster has it. */
  where(app: string): Promise<string[]>;
  /** On which of its own nodes a provider runs them. */
  nodesAt(provider: ProviderName, app: string): Promise<string[]>;
  /** Nothing is borrowed any more, here nor there, and the store knows of nothing. */
  everythingGivenBack(): Promise<void>;
}

export interface StageOptions {
  readonly name: string;
  readonly pools: NonNullable<ConfigInput['pools']>;
  readonly host?: HostOptions;
  /** What an hour may cost at most, in all: looked at all the time. */
  readonly budget: number;
}

/** A namespace and a host of its own on the common world, which is left as it was found. */
export async function onStage(
  world: RemoteWorld,
  { name, pools, host: hostOptions, budget }: StageOptions,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const people = await world.peopleOf(name);
  const borrower = await world.borrow(name, pools);
  let host = await borrower.start(hostOptions);
  const machines = () => borrower.machines(host);
  const stage: Stage = {
    world,
    people,
    get host() {
      return host;
    },
    async start(options) {
      host = await borrower.start(options);
      return host;
    },
    machines,
    offersKnown: () =>
      eventually(async () =>
        expect((await borrower.offers(host)).sort()).toEqual(['north.spare', 'south.spare']),
      ),
    async where(app) {
      const names = await people.running(app);
      const { items } = await people.core.listNode();
      const labels = new Map(items.map(({ metadata }) => [metadata?.name, metadata?.labels]));
      return names.map((node) => labels.get(node)?.['liqo.io/remote-cluster-id'] ?? node).sort();
    },
    async nodesAt(provider, app) {
      const core = world[provider].plane.kubeConfig.makeApiClient(CoreV1Api);
      const { items } = await core.listPodForAllNamespaces({ labelSelector: `app=${app}` });
      return items
        .filter(({ status }) => status?.phase === 'Running')
        .map(({ spec }) => spec?.nodeName ?? '');
    },
    async everythingGivenBack() {
      await eventually(async () => expect(await world.borrowed()).toEqual([]), 120_000);
      await eventually(async () => expect(await people.nodes()).toEqual(['control-1']), 60_000);
      await eventually(async () => expect(await machines()).toEqual([]), 60_000);
      await eventually(() => expect(world.kubelets()).toEqual([]), 60_000);
    },
  };
  const cost = watchCost(machines);
  try {
    // One that is to be killed may be so before.
    if (!hostOptions?.failpoint) await stage.offersKnown();
    await play(stage);
    const { most, looks } = await cost();
    expect(looks).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(budget + 1e-9);
    const told = JSON.stringify(await people.core.listEventForAllNamespaces());
    expect(told).toContain('bamel');
    const said = [...borrower.said(), ...world.said(), told].join('\n');
    for (const secret of await world.secrets()) expect(said).not.toContain(secret);
  } catch (error) {
    const said = borrower.said();
    const news = said.filter((line) => !line.includes('"level":"debug"')).slice(-60);
    const last = said.slice(-30);
    throw new Error(
      [(error as Error).message, 'Its host told:', ...news, 'and said last:', ...last].join('\n'),
      { cause: error },
    );
  } finally {
    await cost();
    await borrower.close();
    await people.core.deleteNamespace({ name });
    await clearSlices(world.consumer, [world.north, world.south]);
  }
}

/** Adds up, again and again, what all that is on the books costs an hour. */
function watchCost(machines: Stage['machines']): () => Promise<{ most: number; looks: number }> {
  let most = 0;
  let looks = 0;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      // The host may be down: what it has on its books then is looked at when it is back.
      const all = await machines().catch(() => undefined);
      if (all) {
        looks += 1;
        most = Math.max(
          most,
          all
            .filter(({ capacity }) => capacity !== 'none')
            .reduce((sum, { hourlyRate = 0 }) => sum + hourlyRate, 0),
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  return async () => {
    stopping.abort();
    await watching;
    return { most, looks };
  };
}
