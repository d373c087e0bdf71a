import { machine, now, pod, snapshot } from '../core/support/builders.ts';
import { decisionOf } from './decisions.ts';
import { even, inZone, large, oneEach, rows, webPod } from './facts/rows.ts';
import { type Code, codes } from './finding.ts';
import { judge } from './judge.ts';

test.each(Object.keys(codes) as Code[])('%s is found where it is, and only there', (code) => {
  const { given, right, wrong } = rows[code];
  expect(judge(given, now, decisionOf(given, right))).toEqual([]);
  expect(judge(given, now, decisionOf(given, wrong)).map((finding) => finding.code)).toContain(code);
});

test('pods may be placed in any order that their rules allow', () => {
  const given = snapshot({
    machines: [inZone('m1', 'a'), inZone('m2', 'b')],
    pods: [webPod('p1', even, large), webPod('p2', even, large), webPod('p3', even), webPod('p4', even)],
  });
  const listed = decisionOf(given, { on: ['m1', 'm2'], assign: { m1: ['p1', 'p3'], m2: ['p2', 'p4'] } });
  expect(judge(given, now, listed)).toEqual([]);
});

test('a machine is needed when its pods cannot all move', () => {
  const given = snapshot({
    machines: [machine('m1'), machine('m2')],
    pods: [pod('p1', large), pod('p2', large)],
  });
  expect(judge(given, now, decisionOf(given, oneEach))).toEqual([]);
});
