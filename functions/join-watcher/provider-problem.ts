import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import { providerLabel } from '../../shared/core/remote/slice-rules.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';

/**
 * A problem of a remote slice that its node does not show: the node stays Ready if the provider withdrew it,
 * and unchanged if its deletion hangs.
 */
export function providerProblem(record: MachineRecord): string | undefined {
  const { spec, status, metrics } = record;
  if (spec.offer === undefined) return undefined;
  const provider = spec.labels?.[providerLabel] ?? spec.offer;
  if (capacityOf(record) === 'none' && status.lastError)
    return `lent by ${provider}, and not known to be gone: ${status.lastError.message}`;
  const isIll = metrics.health === 'critical' || metrics.health === 'warning';
  return isIll && metrics.problems?.length
    ? `lent by ${provider}: ${metrics.problems.join('; ')}`
    : undefined;
}
