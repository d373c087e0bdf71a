import { type Machine, newStatus } from '../../shared/core/machine/machine.ts';
import { MachineSpec } from '../../shared/schema/machine.ts';
import { isToCome, sizeOf } from './instances.ts';
import type { Group, Mirror } from './mirror.ts';
import { type GroupSnapshot, mostAtOnce, remoteGroup } from './remote-group.ts';

export const maxSizeOf = ({ spec, members, instances }: Group, mirror: Mirror, now: number): number => {
  const most = spec.limits.maxNodes || Number.POSITIVE_INFINITY;
  if (spec.template.provider?.offers) {
    const { more = 0 } = remoteGroup(knownOf(mirror), spec, now) ?? {};
    return Math.min(most, Math.max(spec.limits.minNodes, sizeOf(instances) + more));
  }
  // A pool that makes its machines, and says no maximum, is bounded by what the Cluster Autoscaler plans at once.
  if (spec.template.provider) return Math.min(most, mostAtOnce);
  const usable = members.filter((one) => !one.spec.maintenance && one.spec.powerState !== 'off').length;
  return Math.min(most, usable);
};

/** Includes promised slices without a record: they cost, and belong to an offer. */
export const knownOf = (mirror: Mirror): GroupSnapshot => ({
  machines: [...mirror.machines(), ...mirror.groups().flatMap((group) => promisedSlices(mirror, group))],
  pools: mirror.pools(),
  settings: mirror.settings(),
  offers: mirror.offers(),
  providers: mirror.providers(),
});

function promisedSlices(mirror: Mirror, { target, operation }: Group): Machine[] {
  return target.assigned.flatMap((one) =>
    one.make?.offer !== undefined && !mirror.machine(one.machine) && isToCome(one, operation)
      ? [{ spec: MachineSpec.parse(one.make), status: newStatus(0), metrics: {} }]
      : [],
  );
}
