import { logUnmet } from '../../functions/evaluate-scaling/log-decision.ts';
import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import { createLog } from '../../shared/process/log.ts';

const lines: { msg: string; level: string; unmet?: unknown[] }[] = [];
const log = createLog({
  level: 'info',
  format: 'json',
  stream: { write: (line: string) => void lines.push(JSON.parse(line)) },
});

const unmet = (why: string, pods = 1): DecisionRecord['unmet'] => [{ pod: 'default/web', pods, why }];

/** What is logged for a series of evaluations. */
function logged(...series: DecisionRecord['unmet'][]): string[] {
  lines.length = 0;
  let before: DecisionRecord['unmet'] = [];
  for (const [index, now] of series.entries()) {
    logUnmet(log, `d-${index}`, now, before);
    before = now;
  }
  return lines.map(({ level, msg }) => `${level} ${msg}`);
}

test('unmet demand is logged when it begins and when it ends, and not in between', () => {
  expect(logged([], unmet('too large'), unmet('too large', 3), unmet('too large'), [], [])).toEqual([
    'warn demand is unmet',
    'info demand is met',
  ]);
});

test('it is logged again when the reason changes', () => {
  expect(logged(unmet('too large'), unmet('at its maximum'))).toEqual([
    'warn demand is unmet',
    'warn demand is unmet',
  ]);
  expect(lines[1]?.unmet).toEqual(unmet('at its maximum'));
});
