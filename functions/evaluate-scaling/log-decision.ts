import { describeAmount } from '../../shared/core/cluster/resources.ts';
import type { DecisionRecord, Intent } from '../../shared/core/decide/decision.ts';
import { plural } from '../../shared/core/text.ts';
import type { Log } from '../../shared/process/log.ts';

/** Logs a decision with intents: demand and intents. */
export function logDecision(log: Log, decision: string, record: DecisionRecord, dryRun: boolean): void {
  const waiting = record.demand.reduce((sum, group) => sum + group.pods, 0);
  if (record.intents.length === 0) {
    log.debug({ decision, summary: record.summary }, 'evaluated');
    return;
  }
  if (waiting > 0)
    log.info(
      {
        step: 'evaluate',
        decision,
        waiting,
        text: `${waiting} ${plural(waiting, 'pod')} cannot be scheduled (${record.demand
          .slice(0, 3)
          .map(({ pods, requests }) => `${pods} × ${describe(requests)}`)
          .join(', ')}${record.demand.length > 3 ? ', …' : ''})`,
      },
      'pods cannot be scheduled',
    );
  const rejected = record.candidates.filter(({ verdict }) => verdict === 'rejected');
  for (const { kind, machine, why } of record.intents) {
    const verb = `${dryRun ? 'would ' : ''}${verbs[kind]}`;
    const others =
      kind === 'power-on'
        ? rejected.slice(0, 3).map((other) => `; ${other.machine} rejected (${other.why})`)
        : [];
    log.info(
      { step: 'decide', decision, machine, kind, why, text: `${verb}: ${why}${others.join('')}` },
      'decided',
    );
  }
}

/** The reasons for which pods have no machine, each once. Facts such as ages are left out: they change all the time. */
const reasonsOf = (unmet: DecisionRecord['unmet']): string =>
  [...new Set(unmet.map(({ reason, why }) => reason?.code ?? why))].sort().join();

/** Logs unmet demand when it begins, when its reasons change and when it ends. */
export function logUnmet(
  log: Log,
  decision: string,
  unmet: DecisionRecord['unmet'],
  before: DecisionRecord['unmet'],
): void {
  if (reasonsOf(unmet) === reasonsOf(before)) return;
  if (unmet.length === 0) {
    log.info({ step: 'decide', decision, text: 'every waiting pod has a machine' }, 'demand is met');
    return;
  }
  const pods = unmet.reduce((sum, one) => sum + one.pods, 0);
  const [first] = unmet;
  log.warn(
    {
      step: 'decide',
      decision,
      unmet: unmet.slice(0, 10),
      text: `no machine for ${pods} ${plural(pods, 'pod')}, such as ${first?.pod}: ${first?.why}`,
    },
    'demand is unmet',
  );
}

const verbs: Readonly<Record<Intent['kind'], string>> = {
  'power-on': 'power on',
  drain: 'drain and power off',
  'cancel-drain': 'call off its drain',
  resize: 'make larger',
};

const describe = (requests: Readonly<Record<string, number>>): string =>
  Object.entries(requests)
    .map(([name, amount]) => describeAmount(name, amount))
    .join(' ') || 'no requests';
