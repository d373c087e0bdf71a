import type { DisruptionBudget, Pod } from '../../shared/core/cluster/cluster.ts';
import { blocked, durationOf, keepsNobody } from '../../shared/core/decide/blockers.ts';
import { minute, now, pod, running, settings } from './support/builders.ts';

const autoscaler = 'cluster-autoscaler.kubernetes.io/';
const budget = { namespace: 'default', name: 'web', disruptionsAllowed: 1 } as DisruptionBudget;
const why = (parts: Partial<Pod>, more: { budgets?: DisruptionBudget[]; moveLocalStorage?: boolean } = {}) =>
  blocked(running('a', 'n1', parts), {
    settings: settings({ moveLocalStorage: more.moveLocalStorage ?? false }),
    now,
    budgets: more.budgets ?? [],
  });

test.each<[string, Partial<Pod>, object | undefined]>([
  ['nothing special', {}, undefined],
  [
    'safe-to-evict: false',
    { annotations: { [`${autoscaler}safe-to-evict`]: 'false' } },
    { code: 'not-safe-to-evict' },
  ],
  [
    'safe-to-evict: on-completion',
    { annotations: { [`${autoscaler}safe-to-evict`]: 'on-completion' } },
    { code: 'runs-to-completion' },
  ],
  ['do-not-disrupt', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, { code: 'do-not-disrupt' }],
  [
    'do-not-disrupt for longer than it has run',
    { annotations: { 'karpenter.sh/do-not-disrupt': '1h' }, createdAt: now - 30 * minute },
    { code: 'do-not-disrupt', forMs: 30 * minute },
  ],
  [
    'do-not-disrupt that is over',
    { annotations: { 'karpenter.sh/do-not-disrupt': '1h' }, createdAt: now - 61 * minute },
    undefined,
  ],
  ['data on the node', { localVolumes: ['scratch'] }, { code: 'local-data', volume: 'scratch' }],
  [
    'data that may be lost',
    {
      localVolumes: ['scratch', 'cache'],
      annotations: { [`${autoscaler}safe-to-evict-local-volumes`]: 'cache, scratch' },
    },
    undefined,
  ],
  ['a bare pod', { movable: false }, { code: 'no-controller' }],
  ['a pod of a Job', { movable: false, owner: { kind: 'Job', name: 'j', uid: 'u' } }, { code: 'job-pod' }],
  ['a system pod', { namespace: 'kube-system' }, { code: 'system-pod', pod: 'kube-system/a' }],
  ['a critical pod', { priority: 2_000_000_000 }, { code: 'critical-pod' }],
  [
    'a bare pod that is safe to evict',
    { movable: false, annotations: { [`${autoscaler}safe-to-evict`]: 'true' } },
    undefined,
  ],
  [
    'safe to evict, but not to be disrupted',
    { annotations: { [`${autoscaler}safe-to-evict`]: 'true', 'karpenter.sh/do-not-disrupt': 'true' } },
    { code: 'do-not-disrupt' },
  ],
])('%s', (_, parts, expected) => {
  expect(why(parts)).toEqual(expected && { pod: 'default/a', ...expected });
});

test('what a PodDisruptionBudget looks after may move, critical or not', () => {
  expect(why({ namespace: 'kube-system' }, { budgets: [budget] })).toBeUndefined();
  expect(why({ priority: 2_000_000_000 }, { budgets: [budget] })).toBeUndefined();
});

test('local data moves where that is allowed', () => {
  expect(why({ localVolumes: ['scratch'] }, { moveLocalStorage: true })).toBeUndefined();
});

test.each<[string, Partial<Pod>, boolean]>([
  ['a pod', {}, false],
  ['one that has ended', { finished: true }, true],
  ['one on its way out', { terminating: true }, true],
  ['one of a DaemonSet', { belongsToNode: true }, true],
  ['one that says it is', { annotations: { [`${autoscaler}daemonset-pod`]: 'true' } }, true],
  ['one below the cutoff', { priority: -11 }, true],
  ['one at the cutoff', { priority: -10 }, false],
])('whether it keeps a node in use: %s', (_, parts, expected) => {
  expect(keepsNobody(pod('a', parts), settings())).toBe(expected);
});

test.each([
  ['90s', 90_000],
  ['1h30m', 90 * minute],
  ['4h', 240 * minute],
  ['true', undefined],
  ['', undefined],
])('duration %s', (text, ms) => {
  expect(durationOf(text)).toBe(ms);
});
