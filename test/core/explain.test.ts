import { decide } from '../../shared/core/decide/decide.ts';
import { explainDecision, explainMachine, explainPod } from '../../shared/core/decide/explain.ts';
import { textOf } from '../../shared/core/reasons/reason.ts';
import { Gi, machine, node, now, pod, pool, running, serving, snapshot } from './support/builders.ts';

const train = pod('train', { requests: { 'nvidia.com/gpu': 2, memory: 8 * Gi } });
const gpus = (count: number) => ({
  resources: { cpu: 8000, memory: 32 * Gi, 'nvidia.com/gpu': count },
  pool: 'gpu',
});
const given = snapshot({
  machines: [
    serving('tower-1', { spec: gpus(2) }),
    machine('tower-2', { spec: gpus(2) }),
    machine('mini-1'),
    machine('mini-2'),
  ],
  nodes: [node('tower-1', { allocatable: { cpu: 8000, memory: 32 * Gi, 'nvidia.com/gpu': 2, pods: 110 } })],
  pods: [train, running('infer', 'tower-1', { requests: { 'nvidia.com/gpu': 1 } })],
  pools: [pool(), pool({ name: 'gpu', maxNodes: 1 })],
});

const full = textOf({ code: 'at-limit', pool: 'gpu', limit: 'maxNodes', most: 1 });
const short = (free: number) => textOf({ code: 'no-room', resource: 'nvidia.com/gpu', needed: 2, free });

test('a pod that waits: machine by machine, and what would help', () => {
  expect(explainPod(given, 'default/train', now)).toEqual([
    'default/train waits for 2 nvidia.com/gpu, 8Gi memory.',
    `  tower-1         ${short(1)}`,
    `  tower-2         fits, but ${full}`,
    `  mini-1, mini-2  ${short(0)}`,
    'To run it: raise gpu.limits.maxNodes above 1.',
  ]);
});

test('a pod that will be served, one that runs, and one that is not there', () => {
  const raised = { ...given, pools: [pool(), pool({ name: 'gpu', maxNodes: 2 })] };
  expect(explainPod(raised, 'default/train', now)[1]).toBe('  tower-2  is to be powered on for it');
  expect(explainPod(given, 'default/infer', now)).toEqual(['default/infer has a node: tower-1.']);
  expect(explainPod(given, 'default/gone', now)).toEqual(['There is no pod default/gone.']);
});

test('a machine', () => {
  expect(explainMachine(given, 'tower-2', now)).toEqual([
    'tower-2 of pool gpu is off; its power is off.',
    `  rejected: ${full}`,
  ]);
  expect(explainMachine(given, 'none', now)).toEqual(['There is no machine none.']);
});

test('a decision', () => {
  const { record } = decide(given, now);
  expect(explainDecision(record)).toEqual([
    `nothing to power on; nothing to power off; no machine for 1 pod (inputs ${record.digest})`,
    'Demand:',
    '  1 × 2 nvidia.com/gpu, 8Gi memory (e.g. default/train): 0 have room, 0 get it',
    'Machines:',
    `  mini-1   rejected: ${short(0)}`,
    `  mini-2   rejected: ${short(0)}`,
    `  tower-1  kept: ${textOf({ code: 'pod-fits-nowhere', pod: 'default/infer' })}`,
    `  tower-2  rejected: ${full}`,
    'Limits:',
    `  ${full}`,
    'Unmet:',
    `  default/train: ${record.unmet[0]?.why}`,
  ]);
});
