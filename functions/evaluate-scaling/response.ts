import { describeAmount } from '../../shared/core/cluster/resources.ts';
import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import { withCode } from '../../shared/core/reasons/reason.ts';

/** The response body for a decision. */
export function decisionResponse(decision: string, record: DecisionRecord): object {
  const withVerdict = (verdict: string) =>
    record.candidates
      .filter((candidate) => candidate.verdict === verdict)
      .map(({ machine, why, reason, watts, price, alike }) => ({
        machine,
        why,
        ...(reason && { code: reason.code }),
        ...(watts !== undefined && { watts }),
        ...(price !== undefined && { price }),
        ...(alike && { alike }),
      }));
  const calledOff = withVerdict('cancel-drain');
  const larger = withVerdict('resize');
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
    ...(larger.length > 0 && { madeLarger: larger }),
    ...(calledOff.length > 0 && { drainCalledOff: calledOff }),
    kept: withVerdict('kept'),
    rejected: withVerdict('rejected'),
    ...(record.offers && { offers: record.offers.map(withCode) }),
    unmet: record.unmet.map(withCode),
    limits: record.limits,
    ...(record.wants.length > 0 && { wants: record.wants }),
    ...(record.notes.length > 0 && { notes: record.notes }),
  };
}
