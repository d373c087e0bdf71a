import { type Resource, refOf } from '../../shared/ports/resources.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { type Claim, namesOf } from './claims.ts';
import type { Waiting } from './sync-context.ts';

/** Read as off, without an operation. */
export const isAtRest = ({ status }: MachineRecord): boolean =>
  !status.operation && status.powerState === 'off';

/** Why a machine is not operated, as in maintenance; undefined: it is operated. */
export function whyNotOperated(
  node: Resource,
  claim: Claim,
  record: MachineRecord | undefined,
): Waiting | undefined {
  if (claim.kind === 'none')
    return {
      reason: 'NoAutoscaler',
      message: 'no BareMetalAutoscaler of its namespace selects it: make one, or widen its selectors',
    };
  if (claim.kind === 'several')
    return {
      reason: 'ClaimedTwice',
      message: `${namesOf(claim.by)} select it, so it is left alone: narrow the selectors of all but one`,
    };
  const poweringOff = claim.by.deleting;
  if (poweringOff && (!record || isAtRest(record)))
    return { reason: 'AutoscalerDeleting', message: `${refOf(claim.by)} is being deleted` };
  if (node.deleting && !poweringOff) return { reason: 'Deleting', message: 'it is being deleted' };
  return undefined;
}
