import { describeAmount, type Resources, toDescribed } from '../../shared/core/cluster/resources.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { type PowerDriver, PowerError, type PowerReading } from '../../shared/ports/power.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { OperationRecord } from '../../shared/state/inventory.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { resize, saveObservation } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';

/** Resources that were not granted in full, with the granted amounts. */
function shortfall({ spec }: MachineRecord, granted: Resources = spec.resources): Resources {
  return Object.fromEntries(
    Object.entries(granted).filter(([name, amount]) => amount < (spec.resources[name] ?? 0)),
  );
}

/** Whether the spec still has the size that the operation started with. */
export const hasSameSize = ({ operation }: OperationRecord, { spec }: MachineRecord): boolean =>
  JSON.stringify(operation.spec.resources) === JSON.stringify(spec.resources);

/**
 * A machine made on demand may get less than requested: its spec is reduced to that, so that no decision
 * counts on the rest. A spec that changed meanwhile wins.
 */
export async function saveGranted(
  { inventory, log, clock }: Deps,
  record: MachineRecord,
  granted: Resources | undefined,
  lease: Lease,
): Promise<boolean> {
  const short = shortfall(record, granted);
  if (Object.keys(short).length === 0) return false;
  const input = { ...record.input, resources: toDescribed({ ...record.spec.resources, ...short }) };
  const got = Object.entries(short).map(([name, amount]) => describeAmount(name, amount));
  const why = `given only ${got.join(', ')}`;
  const by = 'power-action';
  const now = clock.now();
  if (!(await resize(inventory, record, input, { by, why, lease, now }))) return false;
  // Decisions prefer other providers for a while.
  await saveObservation(inventory, record, { shortGrantAt: now });
  log.warn(
    { step: 'power', machine: record.spec.name, granted: short, text: why },
    'machine is smaller than asked for',
  );
  return true;
}

/**
 * Reconciles the size of a running machine with its spec: requests a changed size, or stores a smaller one
 * that was granted. Undefined: they match, or it is not the time for it.
 */
export async function matchSize(
  deps: Deps,
  record: MachineRecord,
  reading: PowerReading | undefined,
  driver: () => Promise<PowerDriver>,
  settings: Settings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name, made } = record.spec;
  const agrees = !reading?.outgrown && Object.keys(shortfall(record, reading?.resources)).length === 0;
  if (!made || reading?.power !== 'on' || agrees || settings.dryRun) return undefined;
  return underMachineLease(deps, name, settings, { ms: 0 }, async (lease) => {
    const now = await deps.inventory.machine(name);
    const stays = now && ['coming', 'serving'].includes(capacityOf(now));
    if (!stays || now.revisions.spec !== record.revisions.spec) return undefined;
    if (!reading.outgrown)
      return (await saveGranted(deps, now, reading.resources, lease))
        ? 'is smaller than asked for'
        : undefined;
    try {
      const inTime = AbortSignal.any([
        signal,
        lease.lost,
        AbortSignal.timeout(settings.timings.bmcTimeoutMs),
      ]);
      // Not an operation: repeating the request is idempotent.
      await (await driver()).set('on', inTime, `resize-${name}`);
      const text = `asked for ${describeAmount('cpu', now.spec.resources.cpu ?? 0)}, ${describeAmount('memory', now.spec.resources.memory ?? 0)}`;
      deps.log.info({ step: 'power', machine: name, text }, 'machine is resized');
      return 'another size is asked for';
    } catch (error) {
      if (!(error instanceof PowerError)) throw error;
      const text = `another size cannot be asked for: ${error.message}`;
      deps.log.warn({ step: 'power', machine: name, code: error.code, text }, 'machine is not resized');
      return text;
    }
  });
}
