import type { Pod } from '../../shared/core/cluster/cluster.ts';
import { planDrain, type Refusal, refusedAgain } from '../../shared/core/cluster/drain-plan.ts';
import { minute, now, running, settings } from './support/builders.ts';

const plan = (pods: readonly Pod[], refusals: ReadonlyMap<string, Refusal> = new Map(), more = {}) =>
  planDrain(pods, { settings: settings(more), budgets: [], refusals, now });
const names = (pods: readonly Pod[]) => pods.map(({ name }) => name);
const on = (name: string, parts: Partial<Pod> = {}) => running(name, 'n1', parts);
const prefix = 'cluster-autoscaler.kubernetes.io/';
const critical = 2_000_000_000;
const system = { priority: critical, annotations: { [`${prefix}safe-to-evict`]: 'true' } };

test('the least important first, and what others rely on when they are gone', () => {
  const pods = [on('dns', system), on('b', { priority: 5 }), on('c'), on('a')];
  expect(names(plan(pods).evict)).toEqual(['a', 'c', 'b']);
  expect(names(plan(pods).leaving).length).toBe(4);
  expect(names(plan([on('dns', system), on('a', { terminating: true })]).evict)).toEqual([]);
  expect(names(plan([on('dns', system)]).evict)).toEqual(['dns']);
});

test('what belongs to the node, is finished, or is as good as a DaemonSet’s does not count', () => {
  const { leaving } = plan([
    on('daemon', { belongsToNode: true, movable: false }),
    on('done', { finished: true, movable: false }),
    on('agent', { annotations: { [`${prefix}daemonset-pod`]: 'true' } }),
    on('web'),
  ]);
  expect(names(leaving)).toEqual(['web']);
});

test.each<[string, Partial<Pod>, object]>([
  ['a bare pod', { movable: false }, { code: 'no-controller' }],
  [
    'safe-to-evict: "false"',
    { annotations: { [`${prefix}safe-to-evict`]: 'false' } },
    { code: 'not-safe-to-evict' },
  ],
  ['do-not-disrupt', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, { code: 'do-not-disrupt' }],
  ['data on the node', { localVolumes: ['scratch'] }, { code: 'local-data', volume: 'scratch' }],
])('%s makes the drain hopeless, and nobody is evicted for it', (_name, parts, reason) => {
  const { hopeless, evict } = plan([on('stays', parts), on('web')]);
  expect(hopeless).toEqual({ pod: 'default/stays', ...reason });
  expect(evict).toEqual([]);
});

test('on its way out already, or unimportant, it makes nothing hopeless', () => {
  expect(plan([on('bare', { movable: false, terminating: true })]).hopeless).toBeUndefined();
  const filler = on('filler', { movable: false, priority: -100 });
  expect(names(plan([filler]).evict)).toEqual(['filler']);
  expect(
    plan([on('scratch', { localVolumes: ['scratch'] })], new Map(), { moveLocalStorage: true }).hopeless,
  ).toBeUndefined();
});

test('a Job’s pod and one that is to run to its end are waited for; others leave meanwhile', () => {
  const owner = { kind: 'Job', name: 'work', uid: 'w' };
  const { hopeless, evict, waitingFor } = plan([
    on('work', { movable: false, owner }),
    on('batch', { annotations: { [`${prefix}safe-to-evict`]: 'on-completion' } }),
    on('web'),
  ]);
  expect(hopeless).toBeUndefined();
  expect(names(evict)).toEqual(['web']);
  expect(waitingFor).toEqual({ code: 'pod-completing', pod: 'default/work' });
});

test('who was refused is asked again when it is time, and is what the drain waits for', () => {
  const refused = (notBefore: number) => new Map([['web', { tries: 1, notBefore, why: 'budget web' }]]);
  expect(names(plan([on('web'), on('api')], refused(now + 1)).evict)).toEqual(['api']);
  expect(plan([on('web')], refused(now + 1)).waitingFor).toEqual({
    code: 'eviction-refused',
    pod: 'default/web',
    answer: 'budget web',
  });
  expect(names(plan([on('web')], refused(now)).evict)).toEqual(['web']);
});

test('pauses double up to a minute, and are never shorter than the server says', () => {
  const pauses: number[] = [];
  let refusal: Refusal | undefined;
  for (let round = 0; round < 6; round += 1) {
    refusal = refusedAgain(refusal, { why: 'budget' }, 5_000, now);
    pauses.push(refusal.notBefore - now);
  }
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, minute, minute]);
  expect(refusedAgain(undefined, { why: 'busy', retryAfterMs: 10_000 }, 5_000, now).notBefore - now).toBe(
    10_000,
  );
});
