import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import {
  Gi,
  machine,
  minute,
  node,
  now,
  pod,
  pool,
  running,
  serving,
  settings,
  snapshot,
} from '../support/builders.ts';
import { intents, summary, verdict } from '../support/decisions.ts';

describe('powering off', () => {
  /** m1 is idle; another node keeps the cluster alive. */
  const idle = (parts: Parameters<typeof snapshot>[0] = {}): Snapshot =>
    snapshot({ machines: [serving('m1')], nodes: [node('m1'), node('other')], ...parts });

  test('a machine that nothing has needed for long enough is drained', () => {
    expect(intents(idle())).toEqual(['drain m1']);
    expect(verdict(idle(), 'm1')).toEqual({ verdict: 'drain', code: 'idle', forMs: 60 * minute, pods: 0 });
    expect(summary(idle())).toBe('nothing to power on; drain and power off m1');
  });

  test('idle time is remembered from one evaluation to the next', () => {
    const fresh = idle({ machines: [serving('m1', { metrics: {} })] });
    expect(decide(fresh, now).idle).toEqual([{ machine: 'm1', idleSince: now }]);
    expect(verdict(fresh, 'm1')).toEqual({ verdict: 'kept', code: 'idle-too-short', forMs: 10 * minute });

    const since = (ms: number) => idle({ machines: [serving('m1', { metrics: { idleSince: now - ms } })] });
    expect(decide(since(5), now).idle).toEqual([]);
    expect(intents(since(10 * minute - 1))).toEqual([]);
    expect(intents(since(10 * minute))).toEqual(['drain m1']);
  });

  test('and counts anew when the machine begins to serve, or is needed', () => {
    const again = idle({ machines: [serving('m1', { status: { stateSince: now - minute } })] });
    expect(decide(again, now).idle).toEqual([{ machine: 'm1', idleSince: now }]);
    const used = idle({ pods: [running('p', 'm1', { movable: false })] });
    expect(decide(used, now).idle).toEqual([{ machine: 'm1', idleSince: undefined }]);
  });

  const cpu = (milli: number) => ({ requests: { cpu: milli, memory: Gi } });
  test.each<[string, Parameters<typeof snapshot>[0], Reason]>([
    [
      'its pool keeps a minimum',
      { pools: [pool({ minNodes: 1 })] },
      { code: 'pool-minimum', pool: 'workers', nodes: 1 },
    ],
    ['the last Ready node', { nodes: [node('m1')] }, { code: 'last-ready-node' }],
    [
      'the last Ready one among others that are not',
      { nodes: [node('m1'), node('other', { ready: false })] },
      { code: 'last-ready-node' },
    ],
    ['NotReady', { nodes: [node('m1', { ready: false }), node('other')] }, { code: 'node-unknown' }],
    ['gone from the cluster', { nodes: [node('a'), node('b')] }, { code: 'node-missing' }],
    ['of no pool', { pools: [] }, { code: 'pool-undefined', pool: 'workers' }],
    [
      'a pod that cannot move',
      { pods: [running('db', 'm1', { movable: false })] },
      { code: 'no-controller', pod: 'default/db' },
    ],
    [
      'in use beyond the threshold',
      { pods: [running('p', 'm1', cpu(2400))] },
      { code: 'in-use', use: 0.6, pod: 'default/p' },
    ],
    [
      'a pod that fits nowhere else',
      { pods: [running('p', 'm1'), running('q', 'other', cpu(3500))] },
      { code: 'pod-fits-nowhere', pod: 'default/p' },
    ],
    [
      'room for a pod that waits',
      { pods: [pod('p'), running('q', 'other', cpu(3500))] },
      { code: 'pods-expected' },
    ],
    [
      'maintenance asked for',
      { machines: [serving('m1', { spec: { maintenance: true } })] },
      { code: 'in-maintenance' },
    ],
    [
      'its last drain called off just now',
      { machines: [serving('m1', { status: { retryAt: now + 1 } })] },
      { code: 'quarantined' },
    ],
  ])('kept: %s', (_name, parts, reason) => {
    expect(verdict(idle(parts), 'm1')).toEqual({ verdict: 'kept', ...reason });
    expect(intents(idle(parts))).toEqual([]);
  });

  test.each<[string, string, Parameters<typeof node>[1]]>([
    ['control-plane', 'control-plane', { labels: { 'node-role.kubernetes.io/control-plane': '' } }],
    ['name=m1', 'name=m1', {}],
    ['critical', 'a label', { labels: { critical: 'yes' } }],
    ['tier=db', 'a label and its value', { labels: { tier: 'db' } }],
  ])('fault 40: kept: protected by %s', (entry, _name, parts) => {
    const given = (protect: string[], nodeParts: typeof parts) =>
      idle({ settings: settings({ protect }), nodes: [node('m1', nodeParts), node('other')] });
    expect(verdict(given([entry], parts), 'm1')).toEqual({ verdict: 'kept', code: 'protected', by: entry });
    expect(intents(given(['control-plane', 'name=m', 'tier=web', 'crit'], {}))).toEqual(['drain m1']);
  });

  test('finished pods and those of DaemonSets keep nobody', () => {
    const given = idle({
      pods: [
        running('job', 'm1', { finished: true, movable: false }),
        running('agent', 'm1', { belongsToNode: true, movable: false }),
      ],
    });
    expect(intents(given)).toEqual(['drain m1']);
  });

  test('machines in between are kept, with what they wait for', () => {
    const given = snapshot({
      machines: [machine('m1', { status: { state: 'powering-off', operation: 'op-1' } })],
    });
    expect(verdict(given, 'm1')).toMatchObject({
      verdict: 'kept',
      code: 'between-states',
      state: 'powering-off',
    });
  });
});

describe('consolidation', () => {
  const half = (milli: number, extra: Parameters<typeof snapshot>[0] = {}): Snapshot =>
    snapshot({
      machines: [serving('m1'), serving('m2')],
      nodes: [node('m1'), node('m2')],
      pods: [
        running('a', 'm1', { requests: { cpu: milli } }),
        running('b', 'm2', { requests: { cpu: milli } }),
      ],
      ...extra,
    });

  test('of two machines that are used a little, exactly one goes', () => {
    expect(intents(half(1000))).toEqual(['drain m1']);
    expect(verdict(half(1000), 'm1')).toEqual({
      verdict: 'drain',
      code: 'idle',
      forMs: 60 * minute,
      pods: 1,
    });
    expect(verdict(half(1000), 'm2')).toEqual({ verdict: 'kept', code: 'pods-expected' });
  });

  test('the one that is used less', () => {
    const given = half(1000, {
      pods: [running('a', 'm1', { requests: { cpu: 1500 } }), running('b', 'm2', { requests: { cpu: 500 } })],
    });
    expect(intents(given)).toEqual(['drain m2']);
  });

  test('none, when they are used beyond the threshold, or the pods do not fit together', () => {
    expect(intents(half(2100))).toEqual([]);
    expect(intents(half(2100, { settings: settings({ scaleDownThreshold: 0.9 }) }))).toEqual([]);
  });

  test('of three, two go when all fits on one', () => {
    const given = snapshot({
      machines: [serving('m1'), serving('m2'), serving('m3')],
      nodes: [node('m1'), node('m2'), node('m3')],
      pods: [running('a', 'm1'), running('c', 'm3', { requests: { cpu: 1500 } })],
    });
    expect(intents(given)).toEqual(['drain m2', 'drain m1']);
  });

  test('a pod is not moved to a machine that goes itself', () => {
    const given = snapshot({
      machines: [serving('m1'), serving('m2')],
      nodes: [node('m1'), node('m2'), node('other', { allocatable: { cpu: 500, pods: 110 } })],
      pods: [running('a', 'm1')],
    });
    expect(intents(given)).toEqual(['drain m2']);
    expect(verdict(given, 'm1')).toEqual({ verdict: 'kept', code: 'pod-fits-nowhere', pod: 'default/a' });
  });
});
