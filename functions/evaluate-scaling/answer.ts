import type { DecisionRecord } from '../../shared/core/decision.ts';
import { describeAmount } from '../../shared/core/resources.ts';

/** A decision as a person reads it. */
export function answerOf(decision: string, record: DecisionRecord): object {
  const withVerdict = (verdict: string) =>
    record.candidates
      .filter((candidate) => candidate.verdict === verdict)
      .map(({ machine, why, watts }) => ({ machine, why, ...(watts !== undefined && { watts }) }));
  return {
    decision,
    at: new Date(record.at).toISOString(),
    summary: record.summary,
    demand: record.demand.map(({ pods, requests, example }) => ({
      pods,
      requests: Object.entries(requests).map(([name, amount]) => describeAmount(name, amount)),
      example,
    })),
    powerOn: withVerdict('power-on'),
    powerOff: withVerdict('drain'),
    kept: withVerdict('kept'),
    rejected: withVerdict('rejected'),
    unmet: record.unmet,
  };
}
