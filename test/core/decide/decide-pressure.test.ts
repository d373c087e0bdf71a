import { decide } from '../../../shared/core/decide/decide.ts';
import type { PressingPod, Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { Gi, machine, node, now, running, serving, settings, snapshot } from '../support/builders.ts';
import { intents } from '../support/decisions.ts';

const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs' };

/** m1 is pressed by these pods; `spare` could be powered on. */
function pressed(
  pressing: readonly PressingPod[],
  pods: Snapshot['cluster']['pods'],
  more: Partial<Parameters<typeof snapshot>[0]> = {},
): Snapshot {
  return {
    ...snapshot({
      machines: [serving('m1'), machine('spare')],
      nodes: [node('m1')],
      pods: [...pods],
      ...more,
    }),
    pressure: [{ node: 'm1', category: 'cpu', level: 0.9, sign: 'rising', pods: pressing }],
  };
}
const onM1 = (name: string, parts: object = {}) => running(name, 'm1', { uid: name, owner, ...parts });

test('the record says which pressure, on which node, from which pods', () => {
  const given = pressed(
    [
      { uid: 'web', share: 0.6 },
      { uid: 'gone', share: 0.1 },
    ],
    [onM1('web')],
  );
  const { record } = decide(given, now);
  const why = 'cpu pressure on m1 is rising, at 90 % (default/web 60 %, pod gone 10 %)';
  expect(record.wants).toEqual([why]);
  expect(record.intents).toEqual([{ kind: 'power-on', machine: 'spare', why }]);
});

describe('no machine is powered on for what none would help, and the record says why', () => {
  const notes = (given: Snapshot) => {
    expect(intents(given)).toEqual([]);
    return decide(given, now).record.notes;
  };

  test('a pod that its own limit holds', () => {
    expect(notes(pressed([{ uid: 'web', share: 0.8, ownLimit: true }], [onM1('web')]))).toEqual([
      'cpu pressure on m1 is rising, at 90 % (default/web 80 %): no machine would help, default/web is held by its own cpu limit',
    ]);
  });

  test('a single replica with data on the node', () => {
    const given = pressed([{ uid: 'db', share: 0.8 }], [onM1('db', { localVolumes: ['data'] })]);
    expect(notes(given)).toEqual([
      expect.stringContaining(
        'default/db is the only one of its kind and has data on the node (volume data)',
      ),
    ]);
  });

  test('a pod that belongs to the node', () => {
    const given = pressed([{ uid: 'agent', share: 0.8 }], [onM1('agent', { belongsToNode: true })]);
    expect(notes(given)).toEqual([expect.stringContaining('default/agent belongs to the node')]);
  });
});

describe('a machine is powered on', () => {
  test.each<[string, Snapshot]>([
    [
      'when somebody else presses as well',
      pressed(
        [
          { uid: 'held', share: 0.6, ownLimit: true },
          { uid: 'web', share: 0.3 },
        ],
        [onM1('held'), onM1('web')],
      ),
    ],
    ['when most of it is nobody’s', pressed([{ uid: 'held', share: 0.2, ownLimit: true }], [onM1('held')])],
    [
      'when the data are one of several replicas’',
      pressed([{ uid: 'a', share: 0.9 }], [onM1('a', { localVolumes: ['data'] }), onM1('b')]),
    ],
    [
      'when local data may be left behind',
      pressed([{ uid: 'a', share: 0.9 }], [onM1('a', { localVolumes: ['data'] })], {
        settings: settings({ moveLocalStorage: true }),
      }),
    ],
  ])('%s', (_when, given) => {
    expect(intents(given)).toEqual(['power-on spare']);
  });
});

describe('only what the pressing pods could run on is powered on', () => {
  const tainted = machine('tainted', {
    spec: {
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      labels: { disk: 'fast' },
      resources: { cpu: 4000, memory: 16 * Gi },
    },
  });
  const plain = machine('plain', { spec: { resources: { cpu: 4000, memory: 16 * Gi } } });
  const given = (parts: object) =>
    pressed([{ uid: 'web', share: 0.9 }], [onM1('web', parts)], {
      machines: [serving('m1'), plain, tainted],
    });

  test('by taints', () => {
    expect(intents(given({}))).toEqual(['power-on plain']);
  });

  test('by node selectors', () => {
    const tolerations = [{ key: 'gpu', operator: 'Exists' }];
    expect(intents(given({ nodeSelector: { disk: 'fast' }, tolerations }))).toEqual(['power-on tainted']);
  });

  test('nothing fits: nothing is powered on, and that is told', () => {
    const nowhere = given({ nodeSelector: { disk: 'slow' } });
    expect(intents(nowhere)).toEqual([]);
    expect(decide(nowhere, now).record.limits).toEqual([
      'no machine for it: cpu pressure on m1 is rising, at 90 % (default/web 90 %)',
    ]);
  });
});
