import { status } from '@grpc/grpc-js';
import type { Deps } from '../../functions/deps.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import { newStatus } from '../../shared/core/machine/machine.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { type MachineInput, MachineSpec } from '../../shared/schema/machine.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { underLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import type { Group, Mirror } from './mirror.ts';
import { RpcError } from './rpc-error.ts';
import type { Assigned, Leaving, Target } from './target.ts';

export interface Provider extends Pick<Deps, 'inventory' | 'sink' | 'clock' | 'log' | 'failpoint' | 'owner'> {
  readonly mirror: Mirror;
}

/** A group under the lease of its target. */
export interface Held {
  readonly group: Group;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  /** Writes the target, and returns once this process serves it. */
  write(target: Target): Promise<void>;
  /** As it is after the writes so far. */
  now(): Group;
}

const leaseTtlMs = 10_000;

/** Shorter than the deadline of the Cluster Autoscaler's calls, so that it hears why. */
const patienceMs = 3_000;

/** Runs the work while no other replica changes the target of the group; undefined: another one outlasts us. */
export async function withGroup<Value>(
  provider: Provider,
  name: string,
  signal: AbortSignal,
  work: (held: Held) => Promise<Value>,
  ms = patienceMs,
): Promise<Value | undefined> {
  const { mirror, inventory } = provider;
  const key = keys.pool(name, 'target');
  return underLease(provider, `pool-${name}`, leaseTtlMs, { ms, signal }, async (lease) => {
    // Whoever asked has gone, and will ask again: done now, it would be done twice.
    if (signal.aborted) throw new RpcError(status.DEADLINE_EXCEEDED, 'the caller waits no longer');
    let revision = (await inventory.store.get(key))?.revision ?? 0;
    const seen = async (holds: () => boolean): Promise<void> => {
      if (!(await mirror.until(holds, signal)))
        throw new RpcError(status.DEADLINE_EXCEEDED, 'the watch of the store is behind: ask again');
    };
    // What the last holder wrote and began is to be known here before anything is worked out from it.
    await seen(() => mirror.targetRevision(name) >= revision);
    const { assigned, leaving } = groupOf(mirror, name).target;
    for (const { operation } of [...assigned, ...leaving])
      if (!mirror.operation(operation) && (await inventory.store.get(keys.operation(operation))))
        await seen(() => mirror.operation(operation) !== undefined);
    const now = (): Group => groupOf(mirror, name);
    return work({
      group: now(),
      lease,
      signal,
      now,
      async write(target) {
        const { committed, revision: written } = await inventory.store.commit(
          [lease.fence, { key, revision }],
          [{ put: key, value: encode(target) }],
        );
        if (!committed) throw new RpcError(status.UNAVAILABLE, 'another replica took over: ask again');
        revision = written;
        await seen(() => mirror.targetRevision(name) >= written);
      },
    });
  });
}

export function groupOf(mirror: Mirror, name: string): Group {
  const group = mirror.group(name);
  if (group) return group;
  throw new RpcError(
    status.NOT_FOUND,
    `there is no pool ${name} with managedBy: clusterAutoscaler; Refresh lists them`,
  );
}

export type Begun = 'begun' | { readonly refused: string };

const mostTries = 5;

/** Begins the promised operation, once: its id is in the target, and the store takes an id only once. */
export async function begin(
  provider: Provider,
  { lease }: Pick<Held, 'lease'>,
  what: 'on' | 'off',
  { machine, operation, ...rest }: Assigned | Leaving,
): Promise<Begun> {
  const { inventory, clock, mirror } = provider;
  const make = 'make' in rest ? rest.make : undefined;
  const { event, why, wakes } = kinds[what];
  for (let tries = 1; ; tries += 1) {
    const now = clock.now();
    const record = (await inventory.machine(machine)) ?? (make && newRecord(make as MachineInput, now));
    if (!record) return { refused: 'it is no longer in the inventory' };
    const result = await applyEvent(inventory, record, {
      event: event(operation),
      by: 'cluster-autoscaler',
      why,
      begins: { id: operation, machine, goal: what, why, spec: record.input, createdAt: now, commands: [] },
      ...(make && record.revisions.spec === 0 && { creates: record.input }),
      lease,
      settings: mirror.settings(),
      now,
    });
    if (result.kind === 'refused') {
      // Somebody else was faster, perhaps this very call before its process died.
      if (record.status.operation === operation) return 'begun';
      return { refused: result.why };
    }
    if (result.kind === 'changed') {
      await provider.sink.emit(machineEvent(wakes, machine));
      return 'begun';
    }
    if (await inventory.operation(operation)) return 'begun';
    if (tries === mostTries) throw new RpcError(status.UNAVAILABLE, `${machine} is busy: ask again`);
  }
}

const kinds = {
  on: {
    why: 'the Cluster Autoscaler asked for a node',
    wakes: events.powerRequested,
    event: (operation: string): MachineEvent => ({ type: 'power-on-requested', operation }),
  },
  off: {
    why: 'the Cluster Autoscaler deleted its node',
    wakes: events.drainRequested,
    event: (operation: string): MachineEvent => ({ type: 'drain-requested', operation }),
  },
} as const;

/** A machine that does not exist yet: it is made when it is powered on. */
const newRecord = (input: MachineInput, now: number): MachineRecord => ({
  input,
  spec: MachineSpec.parse(input),
  status: { ...newStatus(now), powerState: 'off' },
  since: now,
  metrics: {},
  history: [],
  revisions: { spec: 0, status: 0, metrics: 0, events: 0 },
});
