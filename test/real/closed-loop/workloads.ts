import type { V1Pod } from '@kubernetes/client-node';
import { createRandom, type Random } from '../../fuzz/random.ts';
import { type App, type AppKind, appKinds, createApp } from './apps.ts';
import { daemonPodsOn, describeMachine, type ModelName, models, type OwnMachine, zones } from './fleet.ts';
import { type Daemon, podObject } from './objects.ts';

/** Applications that come to a cluster of a few nodes, and the machines that could be powered on for them. */
export interface Workload {
  readonly name: string;
  readonly seed: number;
  /** The machines that are powered on come up in two groups, not together. */
  readonly staggered: boolean;
  readonly apps: readonly App[];
  readonly daemons: readonly Daemon[];
  /** Machines that serve already. */
  readonly serving: readonly OwnMachine[];
  readonly off: readonly OwnMachine[];
  /** Pods that run on the nodes already. */
  readonly running: readonly V1Pod[];
}

const fewest = 20;
const most = 300;

/** The same for the same seed. */
export function createWorkload(index: number, seed: number): Workload {
  const own = seed * 100_003 + index;
  const random = createRandom(own);
  const name = `w${index}`;
  const apps = createApps(name, random);
  const daemons = createDaemons(name, random);
  const serving = createServing(name, random);
  return {
    name,
    seed: own,
    staggered: index % 3 === 2,
    apps,
    daemons,
    serving,
    off: createOff(name, apps, random),
    running: serving.flatMap((machine) => fill(machine, daemons, random)),
  };
}

/** Many workloads are small, some are large. */
function createApps(name: string, random: Random): App[] {
  const wanted = Math.round(fewest * (most / fewest) ** ((random.below(1000) / 999) ** 1.8));
  const apps: App[] = [];
  for (let pods = 0; pods < wanted; ) {
    const kind: AppKind = random.pick(appKinds);
    const app = createApp(kind, `${name}-${kind}-${apps.length}`, wanted - pods, random);
    apps.push(app);
    pods += app.pods.length;
  }
  return apps;
}

function createDaemons(name: string, random: Random): Daemon[] {
  return Array.from({ length: random.below(4) }, (_, index) => ({
    name: `${name}-daemon-${index}`,
    requests: random.pick([
      { cpu: 100, memory: 128 },
      { cpu: 250, memory: 512 },
      { cpu: 500, memory: 1024 },
    ]),
    everywhere: random.chance(0.7),
    nodeSelector: random.chance(0.2) ? { disk: 'nvme' } : {},
  }));
}

function createServing(name: string, random: Random): OwnMachine[] {
  return Array.from({ length: 2 + random.below(6) }, (_, index) =>
    describeMachine(
      `${name}-on-${index}`,
      random.pick<ModelName>(['small', 'small', 'medium', 'medium', 'large', 'gpu']),
      random.pick(zones),
    ),
  );
}

/** About three times what is asked for, in every zone, and never fewer than an app of one pod per host needs. */
function createOff(name: string, apps: readonly App[], random: Random): OwnMachine[] {
  const sum = (amountOf: (app: App) => number): number =>
    apps.reduce((total, app) => total + amountOf(app) * app.pods.length, 0);
  const cpu = (sum(({ requests }) => requests.cpu) * 3) / zones.length;
  const gpus = (sum(({ requests }) => requests.gpus ?? 0) * 2) / zones.length;
  const machines: OwnMachine[] = [];
  for (const zone of zones) {
    const add = (model: ModelName): void => {
      machines.push(describeMachine(`${name}-off-${machines.length}`, model, zone));
    };
    for (let left = gpus; left > 0; left -= models.gpu.gpus) add('gpu');
    for (const model of ['small', 'medium', 'large'] as const) {
      const least = model === 'large' ? 2 : 5 + random.below(4);
      for (let count = 0; count < Math.max(least, cpu / 3 / models[model].cpu); count += 1) add(model);
    }
  }
  return machines;
}

/** Pods of other applications, up to some use of the node. */
function fill(machine: OwnMachine, daemons: readonly Daemon[], random: Random): V1Pod[] {
  const node = machine.spec.name;
  const use = random.pick([0.2, 0.5, 0.8, 0.9]);
  const requests = random.pick([
    { cpu: 1000, memory: 2048 },
    { cpu: 2000, memory: 6144 },
    { cpu: 3500, memory: 8192 },
  ]);
  const room = models[machine.model].cpu * use - daemonPodsOn(daemons, machine).length * 500;
  const base = node.replace('-on-', '-base-');
  const owner = { kind: 'ReplicaSet', name: base };
  return Array.from({ length: Math.max(0, Math.floor(room / requests.cpu)) }, (_, index) => {
    const pod = podObject({
      name: `${base}-${index}`,
      labels: { app: 'base', group: 'base' },
      owner,
      requests,
      ...(machine.model === 'gpu' && { spec: { tolerations: [{ operator: 'Exists' }] } }),
    });
    return { ...pod, spec: { containers: [], ...pod.spec, nodeName: node } };
  });
}
