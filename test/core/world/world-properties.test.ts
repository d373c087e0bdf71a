import { toNamespace, toNode, toPod } from '../../../shared/adapters/kubernetes/convert.ts';
import { toClaim, toStorageClass, toVolume } from '../../../shared/adapters/kubernetes/storage.ts';
import type { Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import {
  addMachine,
  closePlace,
  createWorld,
  fits,
  howMany,
  kindOf,
  mark,
  misfit,
  type Place,
  preference,
  put,
  remove,
  rollback,
  type World,
} from '../../../shared/core/simulate/simulated-cluster.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { anyCase, type Case, namespaces, withId } from '../../real/scheduler/cases.ts';
import { machine, snapshot } from '../support/builders.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

/** The judged pod last. The same objects that kube-scheduler judges in test/real. */
function snapshotOf(given: Case): Snapshot & { readonly pod: Pod } {
  const { nodes, running, pod, volumes, claims, storageClasses } = withId(given, 'c');
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const judged = toPod(pod);
  const base = snapshot({
    nodes: nodes.map((node) => toNode({ ...node, status: { ...node.status, ...ready } })),
    pods: [
      ...running.map(({ terminating, ...one }) => ({ ...toPod(one), terminating: terminating ?? false })),
      judged,
    ],
  });
  const cluster = {
    ...base.cluster,
    namespaces: Object.entries(namespaces).map(([name, labels]) =>
      toNamespace({ metadata: { name, labels } }),
    ),
    volumes: volumes.map(toVolume),
    claims: claims.map(toClaim),
    storageClasses: storageClasses.map(toStorageClass),
  };
  return { ...base, cluster, pod: judged };
}

const anySnapshot = anyCase.map(snapshotOf);

/** Everything that can be asked of a world, by name. */
function answers(world: World, pods: readonly Pod[]): string[] {
  return pods
    .flatMap((pod) =>
      world.places.map((place) => {
        const kind = kindOf(world, pod);
        const why = JSON.stringify(misfit(world, kind, place));
        return `${pod.name} ${place.name} ${fits(world, kind, place)} ${why} ${howMany(world, kind, place, 9)} ${preference(world, kind, place)}`;
      }),
    )
    .sort();
}

const free = (world: World): number[] => [...world.free.subarray(0, world.places.length * world.width)];

/** Puts, removals, closings and machines, given as numbers so that any sequence makes sense in any world. */
const anyDeeds = fc.array(
  fc.record({ what: fc.nat(9), pod: fc.nat(50), place: fc.nat(50), count: fc.integer({ min: 1, max: 3 }) }),
  {
    maxLength: 12,
  },
);

function act(
  world: World,
  pods: readonly Pod[],
  deeds: readonly { what: number; pod: number; place: number; count: number }[],
) {
  for (const { what, pod, place: at, count } of deeds) {
    const kind = kindOf(world, pods[pod % pods.length] as Pod);
    const place = world.places[at % world.places.length] as Place;
    if (what === 0) closePlace(world, place);
    else if (what === 1)
      addMachine(
        world,
        machine(`m${at}`, {
          spec: { labels: { 'zone.c': 'd', disk: 'ssd', 'host.c': `m${at}`, case: 'c' } },
        }),
      );
    else if (what < 7) put(world, kind, place, count);
    else {
      put(world, kind, place, count);
      remove(world, kind, place, count);
    }
  }
}

const property = <Values extends [unknown, ...unknown[]]>(
  name: string,
  arbitraries: { [Key in keyof Values]: fc.Arbitrary<Values[Key]> },
  check: (...values: Values) => void,
): void => {
  test(name, () => {
    fc.assert(
      fc.property(fc.tuple<Values>(...arbitraries), (values) => check(...values)),
      { numRuns: 300 },
    );
    expect.hasAssertions();
  });
};

property(
  'it fits exactly when there is nothing to say against it',
  [anySnapshot, anyDeeds],
  (given, deeds) => {
    const world = createWorld(given);
    act(world, given.cluster.pods, deeds);
    for (const pod of given.cluster.pods)
      for (const place of world.places) {
        const kind = kindOf(world, pod);
        expect(fits(world, kind, place)).toBe(misfit(world, kind, place) === undefined);
      }
  },
);

property(
  'how many fit is how many can be put one after the other',
  [anySnapshot, anyDeeds],
  (given, deeds) => {
    const world = createWorld(given);
    act(world, given.cluster.pods, deeds);
    for (const pod of given.cluster.pods)
      for (const place of world.places) {
        const kind = kindOf(world, pod);
        const expected = howMany(world, kind, place, 7);
        const before = mark(world);
        let put_ = 0;
        for (; put_ < 7 && fits(world, kind, place); put_++) put(world, kind, place, 1);
        rollback(world, before);
        expect(`${pod.name} on ${place.name}: ${expected}`).toBe(`${pod.name} on ${place.name}: ${put_}`);
      }
  },
);

property('a rollback leaves no trace', [anySnapshot, anyDeeds, anyDeeds], (given, first, second) => {
  const world = createWorld(given);
  act(world, given.cluster.pods, first);
  const before = { answers: answers(world, given.cluster.pods), free: free(world) };
  const at = mark(world);
  act(world, given.cluster.pods, second);
  rollback(world, at);
  expect({ answers: answers(world, given.cluster.pods), free: free(world) }).toEqual(before);
});

property('a pod that was put is a pod that was there', [anySnapshot, fc.nat(10)], (given, at) => {
  const world = createWorld(given);
  const place = world.places[at % world.places.length] as Place;
  const there = createWorld({
    ...given,
    cluster: {
      ...given.cluster,
      pods: given.cluster.pods.map((pod) => (pod === given.pod ? { ...pod, node: place.name } : pod)),
    },
  });
  put(world, kindOf(world, given.pod), place, 1);
  expect(answers(there, given.cluster.pods)).toEqual(answers(world, given.cluster.pods));
  // And one that is taken away was never there.
  const { cluster } = given;
  const gone = cluster.pods.find((pod) => pod.node !== undefined);
  if (!gone) return;
  const without = createWorld({
    ...given,
    cluster: {
      ...cluster,
      pods: cluster.pods.map((pod) => (pod === gone ? { ...pod, node: undefined } : pod)),
    },
  });
  const taken = createWorld(given);
  remove(taken, kindOf(taken, gone), taken.byNode.get(gone.node ?? '') as Place, 1);
  expect(answers(taken, cluster.pods)).toEqual(answers(without, cluster.pods));
});

property('the order of nodes and pods makes no difference', [anySnapshot, fc.boolean()], (given, both) => {
  const { cluster } = given;
  const turned = createWorld({
    ...given,
    cluster: {
      ...cluster,
      pods: cluster.pods.toReversed(),
      nodes: both ? cluster.nodes.toReversed() : cluster.nodes,
      volumes: cluster.volumes?.toReversed(),
    },
  });
  expect(answers(turned, cluster.pods)).toEqual(answers(createWorld(given), cluster.pods));
});

property('nothing it is given is changed', [anySnapshot, anyDeeds], (given, deeds) => {
  deepFreeze(given);
  const world = createWorld(given);
  expect(() => act(world, given.cluster.pods, deeds)).not.toThrow();
});
