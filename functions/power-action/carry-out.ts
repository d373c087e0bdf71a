import { happen, observe, recordCommand } from '../../shared/adapters/changes.ts';
import type { MachineRecord, OperationRecord } from '../../shared/adapters/inventory.ts';
import { type MachineEvent, stepOf } from '../../shared/core/lifecycle.ts';
import type { ErrorCode, Power } from '../../shared/core/machine.ts';
import type { Operation } from '../../shared/core/operation.ts';
import { nextPowerStep } from '../../shared/core/power-step.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { overdue } from '../../shared/core/transition.ts';
import { type Lease, type PowerDriver, PowerError } from '../../shared/ports.ts';
import { type Deps, underMachineLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';
import { look } from './look.ts';

/** One invocation stays with a machine for this long; the next tick goes on where it stopped. */
const longestMs = 20_000;

/**
 * Carries one power operation forward: read the BMC, let the core say the next step, write a command down
 * before it is sent, and believe only consecutive reads. Safe to run twice, and to be killed anywhere.
 */
export async function carryOut(deps: Deps, machine: string, signal: AbortSignal): Promise<string> {
  const settings = await deps.inventory.settings();
  const result = await underMachineLease(deps, machine, settings, { ms: longestMs, signal }, (lease) =>
    pursue(deps, machine, settings, AbortSignal.any([signal, lease.lost]), lease),
  );
  return result ?? 'another instance is at it';
}

async function pursue(
  deps: Deps,
  machine: string,
  settings: Settings,
  signal: AbortSignal,
  lease: Lease,
): Promise<string> {
  const { inventory, clock } = deps;
  const pools = await inventory.pools();
  const until = clock.now() + longestMs;
  let driver: PowerDriver | undefined;
  const driverFor: Deps['driverFor'] = (spec) => {
    driver ??= deps.driverFor(spec);
    return driver;
  };
  let seen: { power: Power; times: number } = { power: 'unknown', times: 0 };

  while (!signal.aborted && clock.now() < until) {
    // Read afresh every time round: whoever changed it meanwhile is right.
    const record = await inventory.machine(machine);
    if (!record || stepOf(record) !== 'power-action' || !record.status.operation) return 'nothing to do';
    const operation = await inventory.operation(record.status.operation);
    if (!operation) return `operation ${record.status.operation} is missing from the store`;
    const attempt: Attempt = { deps: { ...deps, driverFor }, record, operation, settings, lease };

    const pool = pools.find(({ name }) => name === record.spec.pool);
    const late = pool && overdue(record, pool, settings.timings, clock.now(), record.since);
    const given = late && (await conclude(attempt, late, seen.power));
    if (given) return given;

    // The operation's own copy of the spec: an edit of the inventory does not redirect it.
    const { bmcTimeoutMs } = settings.timings;
    const looked = await look(driverFor, operation.operation.spec, bmcTimeoutMs, signal);
    seen = { power: looked.power, times: looked.power === seen.power ? seen.times + 1 : 1 };
    const step = nextPowerStep(byOurClock(operation.operation, record), seen, settings.timings, clock.now());
    let event: MachineEvent | undefined;
    if (looked.final) event = failure(operation, looked.final.message);
    else if (step.kind === 'reached') event = { type: seen.power === 'on' ? 'powered-on' : 'powered-off' };
    else if (step.kind === 'command') {
      const problem = await send(attempt, step.verb, step.why, signal);
      if (problem) event = failure(operation, problem);
      // Whatever was read before a command says nothing about its effect.
      else seen = { power: 'unknown', times: 0 };
    } else await observe(inventory, record, { powerState: seen.power, bmcReachable: looked.reachable });
    const ended = event && (await conclude(attempt, event, seen.power));
    if (ended) return ended;
    await clock.sleep(looked.retryAfterMs ?? settings.timings.readEveryMs, signal);
  }
  return signal.aborted ? 'interrupted; the next tick goes on' : 'still under way; the next tick goes on';
}

/** No command is older than the state it was given in: patience is not cut short by another process's clock. */
function byOurClock(operation: Operation, { since }: MachineRecord): Operation {
  return {
    ...operation,
    commands: operation.commands.map(({ verb, at }) => ({ verb, at: Math.max(at, since) })),
  };
}

interface Attempt {
  readonly deps: Deps;
  readonly record: MachineRecord;
  readonly operation: OperationRecord;
  readonly settings: Settings;
  readonly lease: Lease;
}

/** Sends a command. Returns why the operation cannot succeed, if that is certain already. */
async function send(
  { deps, record, operation, settings, lease }: Attempt,
  verb: 'on' | 'soft-off' | 'hard-off',
  why: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { log, clock, inventory, failpoint } = deps;
  const { name } = record.spec;
  const { bmcTimeoutMs } = settings.timings;
  // The lease must outlive the call, or somebody else could command the same machine meanwhile.
  const leaseSuffices = (): boolean => lease.remainingMs() > bmcTimeoutMs;
  if (!leaseSuffices()) return undefined;
  // A hard off follows a soft one: what can go wrong has its failpoints there.
  const at = (place: 'before-record' | 'before-command' | 'after-command'): void => {
    if (verb !== 'hard-off') failpoint(`power-${place}-${verb}`);
  };
  at('before-record');
  if (!(await recordCommand(inventory, record, operation, verb, lease, clock.now()))) return undefined;
  at('before-command');
  // Asked again: this process may have stood still since.
  if (!leaseSuffices()) return undefined;
  try {
    await deps
      .driverFor(operation.operation.spec)
      .set(verb, AbortSignal.any([signal, AbortSignal.timeout(bmcTimeoutMs)]));
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    log.warn(
      { step: 'power', machine: name, verb, code: error.code, story: error.message },
      'power command failed',
    );
    return error.final ? error.message : undefined;
  }
  at('after-command');
  log.info(
    {
      step: 'power',
      machine: name,
      verb,
      why,
      operation: operation.operation.id,
      story: `${verb.replace('-', ' ')} requested (${record.spec.powerInterface}, operation ${operation.operation.id.slice(-4)})`,
    },
    'power requested',
  );
  return undefined;
}

const failure = ({ operation }: OperationRecord, message: string): MachineEvent => {
  const code: ErrorCode = operation.goal === 'on' ? 'power-on-failed' : 'power-off-failed';
  return { type: 'failed', code, message };
};

/** Writes the result down. Undefined: somebody else wrote meanwhile, so it is to be looked at anew. */
async function conclude(
  { deps, record, operation, settings, lease }: Attempt,
  event: MachineEvent,
  power: Power,
): Promise<string | undefined> {
  const { name } = record.spec;
  const { goal } = operation.operation;
  deps.failpoint(`power-before-result-${goal}`);
  const result = await happen(deps.inventory, record, {
    event,
    by: 'power-action',
    observed: { powerState: power, bmcReachable: power !== 'unknown' },
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind === 'conflict') return undefined;
  if (result.kind === 'refused') return result.why;
  deps.failpoint(`power-after-result-${goal}`);
  if (event.type === 'failed') {
    deps.log.warn(
      { step: 'power', machine: name, story: `quarantined: ${event.message}` },
      'machine quarantined',
    );
    await deps.sink.emit(machineEvent(events.machineFailed, name));
    return `failed: ${event.message}`;
  }
  deps.log.info(
    { step: 'power', machine: name, power, story: `${power}, verified by consecutive reads` },
    'power verified',
  );
  await deps.sink.emit(machineEvent(goal === 'on' ? events.machinePowered : events.machineStopped, name));
  return `power is ${power}`;
}
