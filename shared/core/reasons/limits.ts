import { describeAmount } from '../cluster/resources.ts';
import { money, seconds } from '../text.ts';
import type { Coded, TextOf } from './text-of.ts';

interface PoolFact {
  readonly pool: string;
}

interface TriggerFact extends PoolFact {
  readonly trigger: string;
  readonly threshold: number;
}

interface AlertFact extends PoolFact {
  readonly alert: string;
}

interface Keeps extends PoolFact {
  readonly nodes: number;
}

/** Of a pool, or of the whole cluster. */
export interface Ceiling {
  readonly pool?: string | undefined;
  readonly limit: 'maxNodes' | 'cpuCores' | 'memoryMiB' | 'hourlyCost';
  readonly most: number;
}

const ofWhom = ({ pool }: { readonly pool?: string | undefined }): string =>
  pool === undefined ? 'the cluster' : `pool ${pool}`;

/** Limits, minimums, budgets and cooldowns; triggers, alerts and pressure. */
export const limitTexts = {
  'at-limit': ({ limit, most, ...of }: Ceiling) =>
    `${ofWhom(of)} is at ${limit} ${most}${limit === 'hourlyCost' ? `: its budget of ${money(most)} per hour is used up` : ''}`,
  'batch-full': ({ pool, most }: PoolFact & { readonly most: number }) =>
    `pool ${pool} has ${most} on their way (batchSize)`,
  'provider-unchecked': ({ pool }: PoolFact) =>
    `the provider of pool ${pool} is not checked yet: its options, credentials and access are checked before the first machine is made`,
  'provider-backed-off': ({
    pool,
    error,
    forMs,
  }: PoolFact & { readonly error: string; readonly forMs?: number | undefined }) =>
    `pool ${pool} makes no machines: ${error}. It is tried again when that is corrected${forMs === undefined ? '' : ` or after ${seconds(forMs)}`}`,
  'provider-on-trial': ({ pool, error }: PoolFact & { readonly error: string }) =>
    `pool ${pool} makes one machine at a time until one succeeds; the last one failed: ${error}`,
  'rate-limited': ({ where, most }: { readonly where: string; readonly most: number }) =>
    `${where} may have ${most} power-ons per minute`,
  'offer-used-up': ({
    offer,
    resource,
    most,
  }: {
    readonly offer: string;
    readonly resource: string;
    readonly most: number;
  }) => `offer ${offer} has ${describeAmount(resource, most)} and no more`,

  'pool-minimum': ({ pool, nodes }: Keeps) => `pool ${pool} keeps at least ${nodes} on`,
  'schedule-keeps': ({ pool, nodes, cron }: Keeps & { readonly cron: string }) =>
    `the schedule ${cron} of pool ${pool} keeps ${nodes} on`,
  'schedule-begins': ({ pool, nodes, cron }: Keeps & { readonly cron: string }) =>
    `the schedule ${cron} of pool ${pool} needs ${nodes} on soon`,
  'asked-for-by-cluster-autoscaler': () => 'the Cluster Autoscaler asked for it',
  headroom: ({ pool, resources }: PoolFact & { readonly resources: Readonly<Record<string, number>> }) =>
    `pool ${pool} keeps ${Object.entries(resources)
      .map(([name, amount]) => describeAmount(name, amount))
      .join(', ')} free`,
  'max-concurrent': ({ pool, most }: PoolFact & { readonly most: number }) =>
    `pool ${pool} drains ${most} at once (maxConcurrent)`,
  'disruption-budget': ({ budget, pool }: { readonly budget: string; readonly pool?: string | undefined }) =>
    `the budget ${budget}${pool === undefined ? '' : ` of pool ${pool}`}`,
  'pod-disruption-budget': ({ budget }: { readonly budget: string }) =>
    `PodDisruptionBudget ${budget} allows no more evictions of its pods`,
  'last-ready-node': () => 'it is the last Ready node',
  'pool-unready': ({
    pool,
    unready,
    serving,
  }: PoolFact & { readonly unready: number; readonly serving: number }) =>
    `${unready} of ${serving} nodes of pool ${pool} are not Ready: none of it is powered off`,
  cooldown: ({
    pool,
    after,
    pauseMs,
    leftMs,
  }: PoolFact & {
    readonly after: 'power-on' | 'power-off' | 'failure';
    readonly pauseMs: number;
    readonly leftMs: number;
  }) => `pool ${pool} pauses ${seconds(pauseMs)} after a ${after}: ${seconds(leftMs)} left`,

  'alert-fires': ({ alert, pool }: AlertFact) => `alert ${alert} fires for pool ${pool}`,
  'alert-fired': ({ alert, pool, withinMs }: AlertFact & { readonly withinMs: number }) =>
    `alert ${alert} fired for pool ${pool} less than ${seconds(withinMs)} ago`,
  'only-wakes': ({ because }: { readonly because: Coded }, textOf: TextOf) =>
    `${textOf(because)}: it only wakes the autoscaler`,
  'no-scale-label': () => 'it has no label bamel_scale',
  'scale-label': ({ scale }: { readonly scale: string }) => `bamel_scale is ${scale}${meaningOfScale(scale)}`,
  'no-pool-label': () => 'bamel_scale is up, but no label bamel_pool, pool or node names a pool',
  'node-of-no-machine': ({ node }: { readonly node: string }) =>
    `bamel_scale is up, but node ${node} is no machine of the inventory`,
  'no-such-pool': ({ pool }: PoolFact) => `bamel_scale is up, but there is no pool ${pool}`,
  'steered-by-label': ({ label, pool }: PoolFact & { readonly label: string }) =>
    `bamel_scale is up and ${label} is ${pool}`,
  'steered-by-node': ({
    node,
    machine,
  }: {
    readonly node?: string | undefined;
    readonly machine?: string | undefined;
  }) => `bamel_scale is up and node ${node} is machine ${machine} of it`,
  'trigger-holds': ({
    trigger,
    value,
    threshold,
    forMs,
  }: TriggerFact & { readonly value?: number | undefined; readonly forMs: number }) =>
    `${trigger} is ${value}, above ${threshold} for ${seconds(forMs)}`,
  'trigger-above': ({ trigger, threshold }: TriggerFact) => `${trigger} is above ${threshold}`,
  'trigger-unknown': ({ trigger, threshold }: TriggerFact) =>
    `it is unknown whether ${trigger} is above ${threshold}`,
  'trigger-not-below': ({ trigger, threshold, forMs }: TriggerFact & { readonly forMs: number }) =>
    `${trigger} is not known to have been below ${threshold} for ${seconds(forMs)}`,
  'trigger-note': ({ trigger, pool, note }: PoolFact & { readonly trigger: string; readonly note: string }) =>
    `trigger ${trigger} of pool ${pool}: ${note}`,
  'not-read': ({ what }: { readonly what: string }) => what,

  'node-condition': ({ node, condition }: { readonly node: string; readonly condition: string }) =>
    `${node} has ${condition}`,
  pressure: ({
    node,
    category,
    level,
    pods,
  }: {
    readonly node: string;
    readonly category: string;
    readonly level: number;
    readonly pods: readonly { readonly pod: string; readonly share: number }[];
  }) =>
    `${category} pressure on ${node} is rising, at ${percent(level)}${pods.length > 0 ? ` (${pods.map(({ pod, share }) => `${pod} ${percent(share)}`).join(', ')})` : ''}`,
  'kept-for-pressure': ({ pressure }: { readonly pressure: Coded }, textOf: TextOf) =>
    `kept free: ${textOf(pressure)}`,
  'pressure-beyond-help': (
    { pressure, pods }: { readonly pressure: Coded; readonly pods: readonly Coded[] },
    textOf: TextOf,
  ) => `${textOf(pressure)}: no machine would help, ${pods.map(textOf).join(', ')}`,
  'own-limit': ({ pod, category }: { readonly pod?: string | undefined; readonly category: string }) =>
    `${pod ?? 'a pod'} is held by its own ${category} limit`,
  'node-pod': ({ pod }: { readonly pod: string }) => `${pod} belongs to the node`,
  'only-replica': ({ pod, volume }: { readonly pod: string; readonly volume: string }) =>
    `${pod} is the only replica and has data on the node (volume ${volume})`,
  'scheduler-refuses': ({
    pool,
    use,
    pods,
    forMs,
  }: PoolFact & { readonly use: number; readonly pods: number; readonly forMs: number }) =>
    `pool ${pool} is ${percent(use)} full, and the scheduler has refused ${pods} pods waiting there for ${seconds(forMs)}`,
};

const meaningOfScale = (scale: string): string => {
  if (scale === 'wake') return '';
  return scale === 'down' ? ', and no alert powers anything off' : ', which is not up, down or wake';
};

export const percent = (share: number): string => `${Math.round(share * 100)} %`;
