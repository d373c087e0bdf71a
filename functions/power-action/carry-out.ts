import { type MachineEvent, stepOf } from '../../shared/core/machine/lifecycle.ts';
import type { ErrorCode, Power } from '../../shared/core/machine/machine.ts';
import type { Operation } from '../../shared/core/machine/operation.ts';
import { nextPowerStep } from '../../shared/core/machine/power-step.ts';
import { overdue } from '../../shared/core/machine/transition.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { MachineRecord, OperationRecord } from '../../shared/state/inventory.ts';
import { observe } from '../../shared/state/machine-writes.ts';
import { turnToPowerOn } from '../../shared/state/power-ons.ts';
import { type Deps, underMachineLease } from '../deps.ts';
import { type Bmcs, createBmcs } from './circuit-breaker.ts';
import { conclude } from './conclude.ts';
import { look } from './read-power.ts';
import { giveBack, isToBeGivenBack } from './return-machine.ts';
import { type Attempt, send } from './send.ts';
import { isSizeOf, keepGranted } from './size.ts';

/** One invocation stays with a machine for this long; the next tick goes on where it stopped. */
const longestMs = 20_000;

/**
 * Carries one power operation forward: read the BMC, let the core say the next step, write a command down
 * before it is sent, and believe only consecutive reads. Safe to run twice, and to be killed anywhere.
 */
export async function carryOut(
  deps: Deps,
  machine: string,
  signal: AbortSignal,
  bmcs: Bmcs = createBmcs(deps),
): Promise<string> {
  const settings = await deps.inventory.settings();
  const result = await underMachineLease(
    deps,
    machine,
    settings,
    { ms: longestMs, signal },
    async (lease) => {
      const end = await pursue(deps, bmcs, machine, settings, AbortSignal.any([signal, lease.lost]), lease);
      if (lease.lost.aborted) await markUnknown(deps, machine);
      return end;
    },
  );
  return result ?? 'another instance is at it';
}

async function pursue(
  deps: Deps,
  bmcs: Bmcs,
  machine: string,
  settings: Settings,
  signal: AbortSignal,
  lease: Lease,
): Promise<string> {
  const { inventory, clock } = deps;
  const { timings } = settings;
  const pools = await inventory.pools();
  const until = clock.now() + longestMs;
  let driver: Promise<PowerDriver> | undefined;
  let seen: { power: Power; times: number } = { power: 'unknown', times: 0 };
  let unclear: string | undefined;
  let refusal: string | undefined;
  let hopeless: PowerError | undefined;
  const pause = (ms = timings.readEveryMs): Promise<void> =>
    clock.sleep(Math.min(ms, Math.max(0, until - clock.now())), signal);

  while (!signal.aborted && clock.now() < until) {
    // Read afresh every time round: whoever changed it meanwhile is right.
    const record = await inventory.machine(machine);
    if (!record || stepOf(record) !== 'power-action' || !record.status.operation) return 'nothing to do';
    const operation = await inventory.operation(record.status.operation);
    if (!operation) return `operation ${record.status.operation} is missing from the store`;
    // The operation's own copy of the spec: an edit of the inventory does not redirect it.
    const { spec, goal, commands } = operation.operation;
    const attempt: Attempt = {
      deps,
      bmcs,
      driver: () => {
        driver ??= deps.driverFor(spec);
        return driver;
      },
      record,
      operation,
      settings,
      lease,
      signal,
    };

    const first = goal === 'on' && commands.length === 0;
    const turn = first ? await turnToPowerOn(inventory.store, spec, settings, clock.now()) : undefined;
    // Waiting for others is no failure of this machine: its deadline is not asked.
    if (turn && 'wait' in turn) {
      deps.log.debug({ machine, why: turn.wait }, 'power-on waits for others');
      await pause();
      continue;
    }
    const pool = pools.find(({ name }) => name === record.spec.pool);
    const late = pool && overdue(record, pool, timings, clock.now(), record.since);
    const given =
      (hopeless && (await giveUp(attempt, hopeless))) ||
      (late && (await conclude(attempt, because(late, unclear), { powerState: seen.power })));
    if (given) return given;

    const looked = await look({ driver: attempt.driver, bmcs, record, spec, timings, signal });
    if (looked.closed) {
      await pause(looked.retryAfterMs);
      continue;
    }
    seen = { power: looked.power, times: looked.power === seen.power ? seen.times + 1 : 1 };
    unclear = looked.reading?.unclear ?? looked.problem ?? refusal;
    const powers = {
      ...(looked.capabilities ?? { softOff: true, hardOff: true }),
      lastCommandAt: record.status.powerActionTime,
      pendingOff: record.status.pendingOff,
      lingers: spec.made && looked.reading?.exists,
    };
    const step = nextPowerStep(byOurClock(operation.operation, record), seen, powers, timings, clock.now());
    let event: MachineEvent | undefined;
    if (looked.final) hopeless = looked.final;
    else if (step.kind === 'impossible') event = failure(operation, step.why);
    else if (step.kind === 'reached' && isToBeGivenBack(attempt, looked)) {
      hopeless = await giveBack(attempt, until);
      seen = { power: 'unknown', times: 0 };
    } else if (step.kind === 'reached') {
      // What was granted answers to what the operation asked for: another size is for the sweep to ask for.
      const granted = isSizeOf(operation, record) ? looked.reading?.resources : undefined;
      if (await keepGranted(deps, record, granted, lease)) continue;
      event = { type: seen.power === 'on' ? 'powered-on' : 'powered-off' };
    } else if (step.kind === 'command') {
      const failed = await send(attempt, step.verb, step.why, turn?.also);
      hopeless = failed?.final ? failed : undefined;
      refusal = failed?.message.replace(`${machine}: `, '');
      // Whatever was read before a command says nothing about its effect.
      seen = { power: 'unknown', times: 0 };
    } else await observe(inventory, record, looked.observed);
    // What was written since is read before the end is.
    if (hopeless) continue;
    const ended = event && (await conclude(attempt, event, looked.observed, looked.reading));
    if (ended) return ended;
    await pause(looked.retryAfterMs);
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

const failure = ({ operation }: OperationRecord, message: string): MachineEvent => {
  const code: ErrorCode = operation.goal === 'on' ? 'power-on-failed' : 'power-off-failed';
  return { type: 'failed', code, message };
};

/** What kept it from being read or told, for whoever wonders why it took too long. */
const because = (event: MachineEvent, why: string | undefined): MachineEvent =>
  event.type === 'failed' && why ? { ...event, message: `${event.message}: ${why}` } : event;

/** More tries would not help; refused credentials are remembered, so that nobody locks the account. */
async function giveUp(attempt: Attempt, error: PowerError): Promise<string | undefined> {
  const { bmcs, record, operation } = attempt;
  const refused =
    error.code === 'auth' &&
    (await bmcs.stillRefused(record)) === undefined &&
    (await bmcs.refused(record, error.message));
  return conclude(attempt, failure(operation, error.message), {
    powerState: 'unknown',
    bmcReachable: error.code !== 'config',
    ...(refused && { refused }),
  });
}

/** The lease ran out in the middle: what became of the last command is not known to anybody. */
async function markUnknown({ inventory }: Deps, machine: string): Promise<void> {
  const record = await inventory.machine(machine);
  if (record && stepOf(record) === 'power-action' && record.status.operation)
    await observe(inventory, record, { powerState: 'unknown' });
}
