import { decide } from '../../shared/core/decide/decide.ts';
import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import { explainDecision } from '../../shared/core/decide/explain.ts';
import { because, distinct, type Reason, textOf, withCode } from '../../shared/core/reasons/reason.ts';
import { machine, now, pod, pool, snapshot } from './support/builders.ts';

const full: Reason = { code: 'at-limit', pool: 'workers', limit: 'maxNodes', most: 2 };

test('a text names the facts, those of a reason inside it too', () => {
  expect(textOf(full)).toMatch(/workers.*maxNodes.*2/);
  expect(textOf({ code: 'replacement-waits', by: 'little', because: full })).toContain(textOf(full));
});

test('a code of a later version is its own text', () => {
  expect(textOf({ code: 'of-tomorrow' } as unknown as Reason)).toBe('of-tomorrow');
});

test('the API shows text and code', () => {
  expect(withCode({ machine: 'm1', ...because(full) })).toEqual({
    machine: 'm1',
    why: textOf(full),
    code: 'at-limit',
  });
  expect(withCode({ machine: 'm1', why: 'as it was' })).toEqual({ machine: 'm1', why: 'as it was' });
});

test('of equal texts one is kept', () => {
  expect(distinct([full, { code: 'not-needed' }, { ...full }])).toEqual([full, { code: 'not-needed' }]);
});

test('a stored record reads the same with and without codes', () => {
  const given = snapshot({
    machines: [machine('m1'), machine('m2')],
    pools: [pool({ maxNodes: 1 })],
    pods: Array.from({ length: 9 }, (_, index) => pod(`p${index}`)),
  });
  const stored = JSON.stringify(decide(given, now).record);
  const record = JSON.parse(stored) as DecisionRecord;
  const old = JSON.parse(stored, (key, value) =>
    key === 'reason' || key === 'reasons' ? undefined : value,
  ) as DecisionRecord;
  expect(stored).toContain('"code":"at-limit"');
  expect(JSON.stringify(old)).not.toContain('"code"');
  expect(explainDecision(old)).toEqual(explainDecision(record));
});
