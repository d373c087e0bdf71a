import type { Case } from './case.ts';
import type { Finding } from './finding.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** What the record counts is what there is. */
export function judgeCounts({ decision, demand, left }: Case): Finding[] {
  const { record } = decision;
  const findings: Finding[] = [];
  const told = sum(record.demand.map(({ pods }) => pods));
  if (told !== demand.length)
    findings.push({ code: 'count-demand', text: `${told} pods are told, ${demand.length} wait` });
  const unmet = sum(record.unmet.map(({ pods }) => pods));
  if (unmet !== left.length)
    findings.push({
      code: 'count-unmet',
      text: `${unmet} are told as unmet, ${left.length} are assigned nowhere`,
    });
  const served = sum(record.demand.map(({ room, served: some }) => room + some));
  if (served !== demand.length - left.length)
    findings.push({
      code: 'count-unmet',
      text: `${served} are told as served, ${demand.length - left.length} are assigned`,
    });
  return findings;
}
