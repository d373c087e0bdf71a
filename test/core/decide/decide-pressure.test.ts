import type { PressingPod, Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { Gi, machine, node, running, serving, settings, snapshot } from '../support/builders.ts';
import { intents, reasons, verdict } from '../support/decisions.ts';

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
  const pressure = {
    code: 'pressure',
    node: 'm1',
    category: 'cpu',
    level: 0.9,
    pods: [
      { pod: 'default/web', share: 0.6 },
      { pod: 'pod gone', share: 0.1 },
    ],
  };
  expect(reasons(given).wants).toEqual([pressure]);
  expect(verdict(given, 'spare')).toEqual({ verdict: 'power-on', ...pressure });
});

describe('no machine is powered on for what none would help, and the record says why', () => {
  const notes = (given: Snapshot) => {
    expect(intents(given)).toEqual([]);
    return reasons(given).notes;
  };

  test('a pod that its own limit holds', () => {
    expect(notes(pressed([{ uid: 'web', share: 0.8, ownLimit: true }], [onM1('web')]))).toMatchObject([
      {
        code: 'pressure-beyond-help',
        pressure: { code: 'pressure', node: 'm1', pods: [{ pod: 'default/web', share: 0.8 }] },
        pods: [{ code: 'own-limit', pod: 'default/web', category: 'cpu' }],
      },
    ]);
  });

  test('a single replica with data on the node', () => {
    const given = pressed([{ uid: 'db', share: 0.8 }], [onM1('db', { localVolumes: ['data'] })]);
    expect(notes(given)).toMatchObject([
      { pods: [{ code: 'only-replica', pod: 'default/db', volume: 'data' }] },
    ]);
  });

  test('a pod that belongs to the node', () => {
    const given = pressed([{ uid: 'agent', share: 0.8 }], [onM1('agent', { belongsToNode: true })]);
    expect(notes(given)).toMatchObject([{ pods: [{ code: 'node-pod', pod: 'default/agent' }] }]);
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
    expect(reasons(nowhere).limits).toMatchObject([
      { code: 'no-machine-for', want: { code: 'pressure', node: 'm1' } },
    ]);
  });
});
