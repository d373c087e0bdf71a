import { z } from 'zod';
import { createUnmetReporter } from '../../shared/adapters/kubernetes/unmet-reporter.ts';
import { useOf } from '../../shared/core/cluster/node-use.ts';
import { statisticsOf } from '../../shared/core/cluster/statistics.ts';
import type { DecisionRecord, Intent } from '../../shared/core/decide/decision.ts';
import { waitingPods } from '../../shared/core/decide/snapshot.ts';
import { sampleOf } from '../../shared/core/energy/trend.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import { newStatus } from '../../shared/core/machine/machine.ts';
import { done, type Outcome, rejected, retryLater } from '../../shared/core/outcome.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { coalesce, skipFirst } from '../../shared/process/coalesce.ts';
import { newId } from '../../shared/process/ids.ts';
import { type MachineInput, MachineSpec } from '../../shared/schema/machine.ts';
import { PressureReport } from '../../shared/schema/pressure.ts';
import { looksLikeWebhook, Webhook } from '../../shared/schema/webhook.ts';
import type { Handler } from '../../shared/server/function.ts';
import { openDecisions } from '../../shared/state/decisions.ts';
import { openEnergy } from '../../shared/state/energy.ts';
import { underLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent, resize, saveMetrics } from '../../shared/state/machine-writes.ts';
import { createTrendWriter } from '../../shared/state/trend.ts';
import type { Deps } from '../deps.ts';
import { createAlertQueue, nothingNew, respondInTime } from './alert-queue.ts';
import { countEvaluation, demandOf } from './evaluation-metrics.ts';
import { createEvaluator, type Evaluator } from './evaluator.ts';
import { logDecision, logUnmet } from './log-decision.ts';
import { metricsNews } from './metrics-news.ts';
import { createPressureQueue } from './pressure-queue.ts';
import { decisionResponse } from './response.ts';

export const EvaluateInput = z.preprocess(
  // Alertmanager sends its payload without an envelope.
  (body) => (looksLikeWebhook(body) ? { webhook: body } : body),
  z.strictObject({
    dryRun: z.boolean().optional().describe('decide and answer, but write and do nothing'),
    machine: z.string().optional().describe('what an event is about; everything is looked at anyway'),
    webhook: Webhook.optional().describe(
      "Alertmanager's webhook: a hint to evaluate now, see docs/alerts.md",
    ),
    pressure: PressureReport.optional().describe('what a sensor tells about its node, see docs/pressure.md'),
  }),
);

/** Gather delay: pods of one rollout are better served together. */
const gatherMs = 50;

/** Long enough for a decision on a large cluster; released as soon as the decision is stored. */
const leaseTtlMs = 10_000;

/** Number of evaluations in a row when machines change meanwhile. */
const maxTries = 3;

/** How long to wait for an evaluation of another instance. */
const patienceMs = 2_000;

/** Builds a snapshot, calls the core, and stores the intents and the decision record. */
export function evaluateScaling(deps: Deps): Handler<z.output<typeof EvaluateInput>> {
  const last: LastEvaluation = { summary: '', unmet: [] };
  const writeTrend = createTrendWriter(deps.inventory.store);
  const reportUnmet = createUnmetReporter(deps.cluster, deps.clock);
  const evaluator = createEvaluator(deps);
  const alertQueue = createAlertQueue(deps);
  const pressureQueue = createPressureQueue(deps);
  const run = async (): Promise<Outcome> => {
    const outcome = await underLease(deps, 'evaluate', leaseTtlMs, { ms: patienceMs }, (lease) =>
      decideAndWrite(deps, evaluator, lease, last, writeTrend),
    );
    if (!outcome) return retryLater(1_000, 'another instance is deciding just now');
    // Outside the lease, so that no other evaluation waits for it.
    await reportUnmet(last);
    return outcome;
  };
  const evaluate = coalesce(
    skipFirst(() => deps.clock.sleep(gatherMs)),
    async () => {
      const reasons = [await alertQueue.flush(), await pressureQueue.flush()];
      if (!reasons.includes(true)) return nothingNew;
      let outcome: Outcome | undefined;
      try {
        outcome = await run();
        return outcome;
      } finally {
        if (outcome?.kind !== 'done') alertQueue.retry();
      }
    },
  );
  return async ({ dryRun, webhook, pressure }) => {
    if (dryRun) {
      const { decision } = await evaluator(webhook?.alerts);
      return done(decisionResponse('dry run', decision.record));
    }
    if (webhook) alertQueue.add(webhook.alerts);
    else if (!pressure) alertQueue.requestEvaluation();
    const refused = pressure && (await pressureQueue.add(pressure));
    if (refused) return rejected(refused);
    return webhook ? respondInTime(evaluate(), deps) : evaluate();
  };
}

/** Result of the last evaluation, for reports. */
interface LastEvaluation {
  summary: string;
  unmet: DecisionRecord['unmet'];
}

async function decideAndWrite(
  deps: Deps,
  evaluator: Evaluator,
  lease: Lease,
  last: LastEvaluation,
  writeTrend: ReturnType<typeof createTrendWriter>,
): Promise<Outcome> {
  const counted = countEvaluation(deps.metrics);
  for (let tries = 1; ; tries += 1) {
    const [{ decision, records, settings, cluster, triggers, saveNeeds }, recordDecision, countEnergy] =
      await Promise.all([evaluator(), openDecisions(deps.inventory.store), openEnergy(deps.inventory.store)]);
    const id = newId('d', deps.clock.now());
    // A dry run repeats the same decision: it is logged once.
    if (!settings.dryRun || decision.record.summary !== last.summary)
      logDecision(deps.log, id, decision.record, settings.dryRun);
    logUnmet(deps.log, id, decision.record.unmet, last.unmet);
    last.summary = decision.record.summary;
    last.unmet = decision.record.unmet;
    deps.failpoint('evaluate-before-intent');
    const byName = new Map(records.map((record) => [record.spec.name, record]));
    let conflicts = 0;
    if (!settings.dryRun)
      for (const intent of decision.intents) {
        const known = byName.get(intent.machine);
        const record = known ?? (intent.make && newRecord(intent.make, deps.clock.now()));
        if (!record) continue;
        const written =
          intent.kind === 'resize'
            ? await writeSize(deps, intent, record, lease)
            : await writeIntent(deps, intent, intent.kind, record, id, settings, lease);
        if (!written) conflicts += 1;
      }
    const use = useOf(cluster);
    await saveMetrics(deps.inventory, metricsNews(decision, records, cluster, use, deps.clock.now()), lease);
    await triggers.save(lease);
    if (decision.record.reasons?.limits.some(({ code }) => code === 'provider-unchecked'))
      await deps.sink.emit({ type: events.powerRequested, subject: 'providers', data: {} });
    const acted = !settings.dryRun && decision.intents.length > conflicts;
    await Promise.all([
      recordDecision(
        id,
        decision.record,
        acted,
        lease,
        statisticsOf(
          { machines: records, cluster, use, demand: demandOf(decision.record) },
          deps.clock.now(),
        ),
      ),
      countEnergy(records, lease, deps.clock.now()),
      saveNeeds(lease),
    ]);
    const now = deps.clock.now();
    await writeTrend(
      (since) => sampleOf({ machines: records, use, waiting: waitingPods(cluster).length, since }, now),
      lease,
      now,
    );
    if (conflicts > 0 && tries < maxTries) continue;
    counted(decision.record, settings.dryRun ? 'dry-run' : acted ? 'acted' : 'idle');
    return done(decisionResponse(id, decision.record));
  }
}

/** Stores the intent before any event is sent. False: the machine changed, decide again. */
async function writeIntent(
  deps: Deps,
  intent: Intent,
  kind: keyof typeof intentKinds,
  record: MachineRecord,
  decision: string,
  settings: Settings,
  lease: Lease,
): Promise<boolean> {
  const { goal, wakes, event } = intentKinds[kind];
  const now = deps.clock.now();
  const operation = newId('op', now);
  const { machine, why } = intent;
  const result = await applyEvent(deps.inventory, record, {
    event: event(operation, why),
    by: 'evaluate-scaling',
    why,
    ...(goal && {
      begins: {
        id: operation,
        machine,
        goal,
        why,
        decision,
        spec: record.input,
        createdAt: now,
        commands: [],
      },
    }),
    ...(intent.make && { creates: record.input }),
    lease,
    settings,
    now,
  });
  if (goal) deps.failpoint(`evaluate-after-intent-${goal}`);
  if (result.kind !== 'changed') {
    deps.log.info({ machine, operation, result }, 'machine changed during the evaluation');
    return false;
  }
  deps.metrics?.decisions.inc({ kind });
  await deps.sink.emit(machineEvent(wakes, machine));
  return true;
}

/** The size is the intent: the next check of the machine requests the size in its spec. */
async function writeSize(
  deps: Deps,
  { machine, make, why, kind }: Intent,
  record: MachineRecord,
  lease: Lease,
): Promise<boolean> {
  const now = deps.clock.now();
  const by = 'evaluate-scaling';
  if (!(await resize(deps.inventory, record, make as MachineInput, { by, why, lease, now }))) {
    deps.log.info({ machine }, 'machine changed during the evaluation');
    return false;
  }
  deps.failpoint('evaluate-after-resize');
  deps.metrics?.decisions.inc({ kind });
  await deps.sink.emit(machineEvent(events.powerRequested, machine));
  return true;
}

/** The operation and the event of each kind of intent. A cancelled drain ends its operation. */
const intentKinds: Readonly<Record<Exclude<Intent['kind'], 'resize'>, IntentKind>> = {
  'power-on': {
    goal: 'on',
    wakes: events.powerRequested,
    event: (operation) => ({ type: 'power-on-requested', operation }),
  },
  drain: {
    goal: 'off',
    wakes: events.drainRequested,
    event: (operation) => ({ type: 'drain-requested', operation }),
  },
  'cancel-drain': {
    wakes: events.drainAborted,
    event: (_operation, why) => ({ type: 'drain-aborted', why, needed: true }),
  },
};

interface IntentKind {
  readonly goal?: 'on' | 'off';
  readonly wakes: string;
  readonly event: (operation: string, why: string) => MachineEvent;
}

/** A machine that does not exist yet: it is created when it is powered on. */
function newRecord(made: NonNullable<Intent['make']>, now: number): MachineRecord {
  const input = made as MachineInput;
  return {
    input,
    spec: MachineSpec.parse(input),
    status: { ...newStatus(now), powerState: 'off' },
    since: now,
    metrics: {},
    history: [],
    revisions: { spec: 0, status: 0, metrics: 0, events: 0 },
  };
}
