import { status } from '@grpc/grpc-js';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import { newId } from '../../shared/process/ids.ts';
import { knownOf, maxSizeOf } from './bounds.ts';
import { begin, type Held, type Provider, withGroup } from './change.ts';
import { chooseMachines } from './choose.ts';
import { cameAt, type Instance, isLeaving, isToBegin, requestOf, sizeOf, tidied } from './instances.ts';
import type { Group } from './mirror.ts';
import { RpcError } from './rpc-error.ts';
import type { Leaving, Target } from './target.ts';

/** A node as the Cluster Autoscaler names it; for what never became one, both are the instance's id. */
export interface NodeName {
  readonly providerID: string;
  readonly name: string;
}

const busy = (pool: string): RpcError =>
  new RpcError(status.UNAVAILABLE, `another replica is changing pool ${pool}: ask again`);

/** Promises exactly so many more, writes the promise down, and begins to power them on. */
export async function increase(
  provider: Provider,
  pool: string,
  delta: number,
  signal: AbortSignal,
): Promise<void> {
  if (delta <= 0) throw new RpcError(status.INVALID_ARGUMENT, `delta must be positive, not ${delta}`);
  const done = await withGroup(provider, pool, signal, async (held) => {
    const { mirror, clock } = provider;
    const { group } = held;
    const settings = mirror.settings();
    if (settings.dryRun)
      throw new RpcError(status.FAILED_PRECONDITION, 'dryRun is set: nothing is powered on');
    const size = sizeOf(group.instances) + delta;
    const most = maxSizeOf(group, mirror, clock.now());
    if (size > most)
      throw new RpcError(status.OUT_OF_RANGE, `pool ${pool} would have ${size} nodes, and may have ${most}`);
    const promised = new Set(group.target.assigned.map(({ machine }) => machine));
    const known = knownOf(mirror);
    const machines = known.machines.filter(
      ({ spec }) => spec.offer !== undefined || !isStillPromised(group, promised, spec.name),
    );
    const { picks, why } = chooseMachines({ ...known, machines }, group.spec, delta, clock.now(), promised);
    if (picks.length === 0)
      throw new RpcError(status.RESOURCE_EXHAUSTED, `pool ${pool} has no machine to power on: ${why}`);
    const target = tidied(group);
    const chosen = new Set(picks.map(({ machine }) => machine));
    const assigned = picks.map(({ machine, make }) => ({
      machine,
      operation: newId('op', clock.now()),
      since: mirror.machine(machine)?.status.stateSince ?? 0,
      ...(make && { make }),
    }));
    await held.write({
      // A machine that is promised again starts without earlier failures.
      assigned: [...target.assigned.filter(({ machine }) => !chosen.has(machine)), ...assigned],
      leaving: target.leaving,
      missing: [
        ...target.missing,
        ...Array.from({ length: delta - picks.length }, () => ({
          id: newId('request', clock.now()),
          why: why ?? '',
        })),
      ],
    });
    provider.failpoint('grow-after-target');
    await powerOn(provider, held);
    return true;
  });
  if (!done) throw busy(pool);
}

/** Machines that are already promised, and failed ones that are not acknowledged, are not promised again. */
function isStillPromised(
  { target, members, operation }: Group,
  promised: ReadonlySet<string>,
  machine: string,
) {
  if (!promised.has(machine)) return false;
  const one = target.assigned.find((each) => each.machine === machine);
  const record = members.find(({ spec }) => spec.name === machine);
  return (
    one !== undefined && (isToBegin(one, record, operation) || operation(one.operation)?.end === 'failed')
  );
}

/** Begins what is promised and not begun. A promise that cannot be kept becomes a request without a machine. */
async function powerOn(provider: Provider, held: Held): Promise<void> {
  const { clock, log } = provider;
  const group = held.now();
  for (const one of group.target.assigned) {
    if (held.signal.aborted) return;
    const record = group.members.find(({ spec }) => spec.name === one.machine);
    if (!isToBegin(one, record, group.operation)) continue;
    const begun = await begin(provider, held, 'on', one);
    provider.failpoint('grow-after-operation');
    if (begun === 'begun') continue;
    log.warn({ machine: one.machine, why: begun.refused }, 'a chosen machine cannot be powered on');
    const target = tidied(held.now());
    await held.write({
      ...target,
      assigned: target.assigned.filter(({ machine }) => machine !== one.machine),
      missing: [
        ...target.missing,
        { id: newId('request', clock.now()), why: `${one.machine}: ${begun.refused}` },
      ],
    });
  }
}

/** Takes the nodes out of the target, and begins to empty those that run. Repeats are harmless. */
export async function deleteNodes(
  provider: Provider,
  pool: string,
  nodes: readonly NodeName[],
  signal: AbortSignal,
): Promise<void> {
  const refused = await withGroup(provider, pool, signal, async (held) => {
    const { mirror } = provider;
    const { group } = held;
    const requests = new Set(nodes.flatMap(({ name, providerID }) => requestOf(providerID || name) ?? []));
    const machines = new Set(
      nodes
        .filter(({ name, providerID }) => requestOf(providerID || name) === undefined)
        .flatMap((node) => machineOf(provider, pool, node) ?? []),
    );
    const target = tidied(group);
    const leaving = [...machines].flatMap((name) => leavingOf(provider, group, name) ?? []);
    const next: Target = {
      missing: target.missing.filter(({ id }) => !requests.has(id)),
      assigned: target.assigned.filter(({ machine }) => !machines.has(machine)),
      leaving: [...target.leaving, ...leaving],
    };
    if (JSON.stringify(next) !== JSON.stringify(target)) await held.write(next);
    provider.failpoint('shrink-after-target');
    return drain(provider, held, new Set([...machines].filter((name) => mirror.machine(name))));
  });
  if (refused === undefined) throw busy(pool);
  if (refused.length > 0) throw new RpcError(status.FAILED_PRECONDITION, refused.join('; '));
}

/** The machine that a node is; undefined: it is gone already. */
function machineOf({ mirror }: Provider, pool: string, node: NodeName): string | undefined {
  const record = mirror.find(node);
  if (record?.spec.pool === pool) return record.spec.name;
  if (record)
    throw new RpcError(
      status.INVALID_ARGUMENT,
      `node ${node.name} is of pool ${record.spec.pool}, not ${pool}`,
    );
  const [, promised] = /^(?:bamel:\/\/|liqo:\/\/[^/]+\/)(.+)$/.exec(node.providerID || node.name) ?? [];
  if (promised !== undefined) return promised;
  throw new RpcError(status.INVALID_ARGUMENT, `node ${node.name} is no machine of pool ${pool}`);
}

function leavingOf({ mirror, clock }: Provider, group: Group, name: string): Leaving | undefined {
  const record = mirror.machine(name);
  if (!record) return undefined;
  const instance: Instance | undefined = group.instances.find(({ machine }) => machine === name);
  if (!instance || instance.state === 'deleting' || record.status.state === 'off') return undefined;
  return { machine: name, operation: newId('op', clock.now()), cameAt: cameAt(record) };
}

/** Begins to empty those that run and are to leave. What refuses to is in the target again. Why, for each. */
async function drain(provider: Provider, held: Held, only?: ReadonlySet<string>): Promise<string[]> {
  const refused: string[] = [];
  const group = held.now();
  for (const one of group.target.leaving) {
    if (held.signal.aborted) return refused;
    if (only && !only.has(one.machine)) continue;
    const record = group.members.find(({ spec }) => spec.name === one.machine);
    if (!record || capacityOf(record) !== 'serving' || !isLeaving(record, one, group.operation)) continue;
    const begun = await begin(provider, held, 'off', one);
    provider.failpoint('shrink-after-operation');
    if (begun === 'begun') continue;
    provider.log.warn({ machine: one.machine, why: begun.refused }, 'a deleted node cannot be drained');
    refused.push(`${one.machine} stays: ${begun.refused}`);
    const target = tidied(held.now());
    await held.write({
      ...target,
      leaving: target.leaving.filter(({ machine }) => machine !== one.machine),
    });
  }
  return refused;
}

/** Takes back requests and promises that nothing was begun for; never touches a machine. */
export async function decrease(
  provider: Provider,
  pool: string,
  delta: number,
  signal: AbortSignal,
): Promise<void> {
  if (delta >= 0) throw new RpcError(status.INVALID_ARGUMENT, `delta must be negative, not ${delta}`);
  const done = await withGroup(provider, pool, signal, async (held) => {
    const { group } = held;
    const target = tidied(group);
    const open = target.assigned.filter((one) =>
      isToBegin(
        one,
        group.members.find(({ spec }) => spec.name === one.machine),
        group.operation,
      ),
    );
    const requests = Math.min(-delta, target.missing.length);
    const promises = -delta - requests;
    if (promises > open.length)
      throw new RpcError(
        status.FAILED_PRECONDITION,
        `${requests + open.length} of ${-delta} can be taken back: the other machines are on or starting, delete those nodes instead`,
      );
    const dropped = new Set(open.slice(open.length - promises));
    await held.write({
      ...target,
      missing: target.missing.slice(0, target.missing.length - requests),
      assigned: target.assigned.filter((one) => !dropped.has(one)),
    });
    return true;
  });
  if (!done) throw busy(pool);
}

/** Goes on with what a replica that died had written down and not begun. */
export async function resume(provider: Provider, signal: AbortSignal): Promise<void> {
  for (const group of provider.mirror.groups()) {
    if (!hasOpenEnds(group)) continue;
    await withGroup(
      provider,
      group.name,
      signal,
      async (held) => {
        await powerOn(provider, held);
        await drain(provider, held);
      },
      0,
    );
  }
}

function hasOpenEnds({ target, members, operation }: Group): boolean {
  if (target.assigned.length === 0 && target.leaving.length === 0) return false;
  const recordOf = (name: string) => members.find(({ spec }) => spec.name === name);
  return (
    target.assigned.some((one) => isToBegin(one, recordOf(one.machine), operation)) ||
    target.leaving.some((one) => {
      const record = recordOf(one.machine);
      return record !== undefined && capacityOf(record) === 'serving' && isLeaving(record, one, operation);
    })
  );
}
