import { add, type Resources } from '../../shared/core/cluster/resources.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Resource } from '../../shared/ports/resources.ts';
import type { PoolStatus } from '../../shared/schema/resource-status.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { healthOf } from '../../shared/state/pool-health.ts';
import { accepted, condition, conditionsFor, deleting, timeText } from './conditions.ts';
import { quantities } from './quantities.ts';
import type { SyncContext } from './sync-context.ts';

export async function poolStatusOf(
  context: SyncContext,
  pool: Resource,
  members: readonly MachineRecord[],
  unmetPods: number,
): Promise<PoolStatus> {
  const by = (capacity: string) => members.filter((record) => capacityOf(record) === capacity);
  const serving = by('serving');
  const coming = by('coming');
  const sum = (records: readonly MachineRecord[]) =>
    quantities(records.map(({ spec }) => spec.resources).reduce<Resources>(add, {}));
  const { health, why } = healthOf(members);
  return {
    observedGeneration: pool.generation,
    machines: members.length,
    readyNodes: serving.filter(({ status }) => status.nodeReady !== false).length,
    pendingNodes: coming.length,
    desiredNodes: serving.length + coming.length,
    scalingNodes: await scaling(context, members),
    availableResources: sum(by('none').filter(({ status }) => status.state === 'off')),
    activeResources: sum(serving),
    pendingResources: sum(coming),
    unmetPods,
    health,
    conditions: conditionsFor(
      pool,
      [
        accepted(context, pool, 'it is in the inventory'),
        condition('Healthy', health === 'unknown' ? undefined : health === 'healthy', capital(health), why),
        ...deleting(context, pool),
      ],
      context.now,
    ),
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function scaling(
  { deps: { inventory } }: SyncContext,
  members: readonly MachineRecord[],
): Promise<NonNullable<PoolStatus['scalingNodes']>> {
  const busy = members.filter(({ status }) => status.operation !== undefined);
  return Promise.all(
    busy.map(async ({ spec, status }) => {
      const operation = (await inventory.operation(status.operation ?? ''))?.operation;
      return {
        nodeName: spec.name,
        action: operation?.goal === 'on' ? ('power-on' as const) : ('power-off' as const),
        actionSince: timeText(operation?.createdAt ?? status.stateSince),
        state: status.state,
        resources: quantities(spec.resources),
        reason: operation?.why ?? '',
      };
    }),
  );
}
