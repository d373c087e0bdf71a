import { observe } from '../../shared/adapters/changes.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import type { Node } from '../../shared/core/cluster.ts';
import { lifecycle, type MachineEvent, stepOf } from '../../shared/core/lifecycle.ts';
import { isLeftOver, type Match } from '../../shared/core/match.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import { overdue } from '../../shared/core/transition.ts';
import { cordonedBy, type Deps, underMachineLease } from '../deps.ts';
import { giveUp, join } from './join.ts';

/** What was seen of one machine. */
export interface Sighting {
  readonly deps: Deps;
  readonly match: Match | undefined;
  readonly pool: PoolSpec | undefined;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/** How long to wait for whoever holds the machine, so that a joiner whose watcher died is not kept waiting. */
const patienceMs = 20_000;

export async function watchOne(sighting: Sighting, record: MachineRecord): Promise<string | undefined> {
  const { deps, match, settings, signal } = sighting;
  if (match && isStale(record, match.node)) return removeNode(deps, record, match.node);
  if (!mayJoin(sighting, record) && !isLate(sighting, record)) {
    await observe(deps.inventory, record, { kubernetesNode: match?.node.name, nodeReady: match?.node.ready });
    return undefined;
  }
  return underMachineLease(deps, record.spec.name, settings, { ms: patienceMs, signal }, async (lease) => {
    // Read again: whoever had the lease before may have done it, or begun something else.
    const current = await deps.inventory.machine(record.spec.name);
    if (!current) return undefined;
    if (match && mayJoin(sighting, current)) return join(deps, current, match, settings, lease);
    const late = isLate(sighting, current);
    return late && giveUp(deps, current, late, settings, lease);
  });
}

function mayJoin({ match, deps }: Sighting, record: MachineRecord): boolean {
  if (!match?.node.ready || isLeftOver(record, match.node)) return false;
  const { status } = record;
  if (!lifecycle[status.state].on.joined) return false;
  // One that refused to power off is not taken back before its time: the next try is due then.
  return status.lastError?.code !== 'power-off-failed' || (status.retryAt ?? 0) <= deps.clock.now();
}

function isLate({ deps, pool, settings }: Sighting, record: MachineRecord): MachineEvent | undefined {
  if (!pool || stepOf(record) !== 'join-watcher') return undefined;
  return overdue(record, pool, settings.timings, deps.clock.now(), record.since);
}

/**
 * The node that we drained before its machine was powered off, left over from that boot. One that shows another
 * boot has come back meanwhile, and a kubelet whose Node is deleted does not register again by itself.
 */
function isStale({ status }: MachineRecord, node: Node): boolean {
  const provenOff =
    status.powerState === 'off' && lifecycle[status.state].on['power-on-requested'] !== undefined;
  return provenOff && node.annotations[cordonedBy] !== undefined && node.bootID === status.bootID;
}

async function removeNode(deps: Deps, record: MachineRecord, { name }: Node): Promise<string> {
  if (await deps.cluster.deleteNode(name))
    deps.log.info(
      { step: 'join', machine: record.spec.name, node: name, story: 'is off: its Node object is removed' },
      'stale node removed',
    );
  await observe(deps.inventory, record, { kubernetesNode: undefined, nodeReady: undefined });
  return 'stale node removed';
}
