import { manyLost, recoveryOf, type Silence } from '../../shared/core/machine/node-recovery.ts';
import type { Reason } from '../../shared/core/reasons/reason.ts';
import { minute, node, serving, settings } from './support/builders.ts';

const silence = (parts: Partial<Silence> = {}): Silence => ({
  machine: serving('m1', { status: { nodeReady: false } }),
  node: node('m1', { ready: false, silent: true }),
  unreadyForMs: 10 * minute,
  recovery: { policy: 'power-cycle', notReadyForMs: 10 * minute, maxPerHour: 2 },
  podInTheWay: undefined,
  protection: undefined,
  cycles: 0,
  ...parts,
});
const step = (parts: Partial<Silence> = {}, halted?: Reason) => recoveryOf(silence(parts), halted).kind;
const policy = (name: Silence['recovery']['policy']) => ({ ...silence().recovery, policy: name });

test('each policy, once it has lasted long enough and not a moment earlier', () => {
  expect(step()).toBe('power-cycle');
  expect(step({ recovery: policy('replace') })).toBe('lost');
  expect(step({ recovery: policy('wait') })).toBe('wait');
  expect(step({ unreadyForMs: 10 * minute - 1 })).toBe('wait');
});

test('a Node that is gone is lost under every policy: nobody registers it again', () => {
  for (const name of ['wait', 'replace', 'power-cycle'] as const)
    expect(step({ node: undefined, recovery: policy(name) })).toBe('lost');
});

test.each<[string, Partial<Silence>]>([
  ['an operation is under way', { machine: serving('m1', { status: { operation: 'op-1' } }) }],
  ['power is not known', { machine: serving('m1', { status: { powerState: 'unknown' } }) }],
  ['power is only inferred', { machine: serving('m1', { status: { powerInferred: true } }) }],
  ['its kubelet still speaks', { node: node('m1', { ready: false, silent: false }) }],
  ['a pod must not be interrupted', { podInTheWay: { code: 'do-not-disrupt', pod: 'default/x' } }],
  ['it is protected', { protection: { code: 'protected', by: 'name=m1' } }],
  ['enough were restarted within the hour', { cycles: 2 }],
])('no power cycle when %s', (_name, parts) => {
  expect(step(parts)).toBe('wait');
});

test('nothing at all while many are lost at once', () => {
  const network: Reason = { code: 'many-nodes-lost', lost: 4, of: 5 };
  for (const name of ['replace', 'power-cycle'] as const)
    expect(step({ recovery: policy(name) }, network)).toBe('wait');
  expect(step({ node: undefined }, network)).toBe('wait');
});

test('many: more than both the count and the share, or all of several', () => {
  const many = (lost: number, total: number) => {
    const machines = Array.from({ length: total }, (_, index) => serving(`m${index}`));
    return (
      manyLost(machines, (machine) => machines.indexOf(machine as never) >= lost, settings()) !== undefined
    );
  };
  expect(many(1, 1)).toBe(false);
  expect(many(1, 2)).toBe(false);
  expect(many(2, 2)).toBe(true);
  expect(many(3, 5)).toBe(false);
  expect(many(4, 8)).toBe(true);
  expect(many(4, 10)).toBe(false);
});

test('what is written down does not change with the time that passes', () => {
  const why = (unreadyForMs: number) => {
    const next = recoveryOf(silence({ unreadyForMs, recovery: policy('wait') }), undefined);
    return next.why;
  };
  expect(why(11 * minute)).toBe(why(99 * minute));
});
