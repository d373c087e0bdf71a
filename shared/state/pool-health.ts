import type { PoolStatus } from '../schema/resource-status.ts';
import type { MachineRecord } from './machine-record.ts';

type Health = NonNullable<PoolStatus['health']>;

export function healthOf(members: readonly MachineRecord[]): { health: Health; why: string } {
  const ill = members.filter(({ status }) => status.state === 'error' || status.bmcReachable === false);
  const names = ill.map(({ spec }) => spec.name).join(', ');
  if (members.length === 0) return { health: 'unknown', why: 'it has no machines' };
  if (ill.length === members.length)
    return { health: 'offline', why: `none of its machines can be used: ${names}` };
  if (ill.length > 0)
    return { health: 'degraded', why: `quarantined or without an answer from the BMC: ${names}` };
  if (members.every(({ status }) => status.bmcReachable === undefined))
    return { health: 'unknown', why: 'its machines have not been looked at yet' };
  return { health: 'healthy', why: 'no machine is quarantined, and every BMC answers' };
}
