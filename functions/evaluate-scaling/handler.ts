import { z } from 'zod';
import { happen, remember } from '../../shared/adapters/changes.ts';
import { recordDecision } from '../../shared/adapters/decisions.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { decide } from '../../shared/core/decide.ts';
import type { Decision, Intent } from '../../shared/core/decision.ts';
import { done, type Outcome, retryLater } from '../../shared/core/outcome.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { Lease } from '../../shared/ports.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { newId } from '../../shared/runtime/ids.ts';
import { type Deps, underLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';
import { answerOf } from './answer.ts';
import { coalesce } from './coalesce.ts';
import { tellStory } from './story.ts';

/** Alertmanager's webhook, as much of it as we rely on. */
const Webhook = z.looseObject({
  version: z.literal('4'),
  status: z.string(),
  alerts: z.array(z.looseObject({})),
});

export const EvaluateInput = z.preprocess(
  // An alert only wakes us, firing or resolved: the decision looks for itself.
  (body) => (Webhook.safeParse(body).success ? {} : body),
  z.strictObject({
    dryRun: z.boolean().optional().describe('decide and answer, but write and do nothing'),
    machine: z.string().optional().describe('what an event is about; everything is looked at anyway'),
  }),
);

/** How long to wait for others before looking: pods of one rollout are better served together than one by one. */
const gatherMs = 50;

/** Long enough for a decision on a large cluster; it is given back as soon as the decision is written. */
const leaseTtlMs = 10_000;

/** A machine that somebody wrote about meanwhile is looked at again at once, this often. */
const mostTries = 3;

/** How long to wait for another instance that is deciding. */
const patienceMs = 2_000;

/** Builds a snapshot, lets the core decide, writes the intents and a record of the decision. */
export function evaluateScaling(deps: Deps): Handler<z.output<typeof EvaluateInput>> {
  const told = { summary: '' };
  const evaluate = coalesce(
    () => deps.clock.sleep(gatherMs),
    async () =>
      (await underLease(deps, 'evaluate', leaseTtlMs, { ms: patienceMs }, (lease) =>
        decideAndWrite(deps, lease, told),
      )) ?? retryLater(1_000, 'another instance is deciding just now'),
  );
  return async ({ dryRun }) => {
    if (!dryRun) return evaluate();
    const { decision } = await look(deps);
    return done(answerOf('dry run', decision.record));
  };
}

async function look(
  deps: Deps,
): Promise<{ decision: Decision; records: MachineRecord[]; settings: Settings }> {
  const [records, pools, settings, cluster] = await Promise.all([
    deps.inventory.machines(),
    deps.inventory.pools(),
    deps.inventory.settings(),
    deps.cluster.view(),
  ]);
  return {
    decision: decide({ machines: records, pools, settings, cluster }, deps.clock.now()),
    records,
    settings,
  };
}

async function decideAndWrite(deps: Deps, lease: Lease, told: { summary: string }): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const { decision, records, settings } = await look(deps);
    const id = newId('d', deps.clock.now());
    // A dry run decides the same again and again: it is told once.
    if (!settings.dryRun || decision.record.summary !== told.summary)
      tellStory(deps.log, id, decision.record, settings.dryRun);
    told.summary = decision.record.summary;
    deps.failpoint('evaluate-before-intent');
    const byName = new Map(records.map((record) => [record.spec.name, record]));
    let conflicts = 0;
    if (!settings.dryRun)
      for (const intent of decision.intents) {
        const record = byName.get(intent.machine);
        if (record && !(await writeIntent(deps, intent, record, id, settings, lease))) conflicts += 1;
      }
    for (const { machine, idleSince } of decision.idle) {
      const record = byName.get(machine);
      if (record) await remember(deps.inventory, record, { idleSince }, lease);
    }
    const acted = !settings.dryRun && decision.intents.length > conflicts;
    await recordDecision(deps.inventory.store, id, decision.record, acted, lease);
    if (conflicts === 0 || tries === mostTries) return done(answerOf(id, decision.record));
  }
}

/** The intent is in the store before anything is done about it; only then is anybody told. False: decide anew. */
async function writeIntent(
  deps: Deps,
  intent: Intent,
  record: MachineRecord,
  decision: string,
  settings: Settings,
  lease: Lease,
): Promise<boolean> {
  const now = deps.clock.now();
  const goal = intent.kind === 'power-on' ? 'on' : 'off';
  const operation = newId('op', now);
  const result = await happen(deps.inventory, record, {
    event: { type: intent.kind === 'power-on' ? 'power-on-requested' : 'drain-requested', operation },
    by: 'evaluate-scaling',
    why: intent.why,
    begins: {
      id: operation,
      machine: intent.machine,
      goal,
      why: intent.why,
      decision,
      spec: record.input,
      createdAt: now,
      commands: [],
    },
    lease,
    settings,
    now,
  });
  deps.failpoint(`evaluate-after-intent-${goal}`);
  if (result.kind !== 'changed') {
    deps.log.info(
      { machine: intent.machine, operation, result },
      'the machine changed since it was looked at',
    );
    return false;
  }
  await deps.sink.emit(
    machineEvent(goal === 'on' ? events.powerRequested : events.drainRequested, intent.machine),
  );
  return true;
}
