import type {
  ClusterView,
  Node,
  Pod,
  PodTerm,
  Requirement,
  SpreadRule,
} from '../../../shared/core/cluster/cluster.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import {
  createWorld,
  fits,
  howMany,
  kindOf,
  misfit,
  type Place,
  preference,
  put,
  type World,
} from '../../../shared/core/simulate/simulated-cluster.ts';
import { Gi, node, pod, running, snapshot } from '../support/builders.ts';

const host = 'kubernetes.io/hostname';
const is = (key: string, ...values: string[]): Requirement => ({ key, operator: 'In', values });
const web = [is('app', 'web')];
const labelled = (name: string, labels: Record<string, string>, more: Partial<Node> = {}): Node =>
  node(name, { labels: { [host]: name, ...labels }, ...more });
const inZone = (name: string, zone: string): Node => labelled(name, { zone });

/** The pod's verdict on every node, by name: undefined where it fits. */
function verdicts(
  wanted: Pod,
  nodes: readonly Node[],
  others: readonly Pod[] = [],
  more: Partial<ClusterView> = {},
): Record<string, Reason | undefined> {
  const { world, kind } = worldOf(wanted, nodes, others, more);
  return Object.fromEntries(
    world.places.map((place) => {
      const why = misfit(world, kind, place);
      expect(fits(world, kind, place)).toBe(why === undefined);
      return [place.name, why];
    }),
  );
}

function worldOf(
  wanted: Pod,
  nodes: readonly Node[],
  others: readonly Pod[] = [],
  more: Partial<ClusterView> = {},
) {
  const base = snapshot({ nodes, pods: [wanted, ...others] });
  const world = createWorld({ ...base, cluster: { ...base.cluster, ...more } });
  return { world, kind: kindOf(world, wanted), at: (name: string) => world.byNode.get(name) as Place };
}

/** The places where it fits. */
const where = (...given: Parameters<typeof verdicts>): string[] =>
  Object.entries(verdicts(...given)).flatMap(([name, why]) => (why === undefined ? [name] : []));

describe('resources', () => {
  test('what is taken is not free, and it is said what is short', () => {
    expect(
      verdicts(
        pod('p', { requests: { cpu: 2000 } }),
        [node('full'), node('free')],
        [running('r', 'full', { requests: { cpu: 3000 } })],
      ),
    ).toEqual({
      full: { code: 'no-room', resource: 'cpu', needed: 2000, free: 1000 },
      free: undefined,
    });
  });
  test('a GPU that no node has', () => {
    expect(verdicts(pod('p', { requests: { 'nvidia.com/gpu': 1 } }), [node('n')])).toEqual({
      n: { code: 'no-room', resource: 'nvidia.com/gpu', needed: 1, free: 0 },
    });
  });
  test('a pod without requests needs a pod slot only, even where everything is overcommitted', () => {
    const nothing = { requests: {} };
    const small = node('n', { allocatable: { cpu: 1000, memory: Gi, pods: 2 } });
    expect(where(pod('p', nothing), [small], [running('r', 'n', { requests: { cpu: 9000 } })])).toEqual([
      'n',
    ]);
    expect(
      verdicts(pod('p', nothing), [small], [running('a', 'n', nothing), running('b', 'n', nothing)]),
    ).toEqual({
      n: { code: 'no-room', resource: 'pods', needed: 1, free: 0 },
    });
  });
  test('a pod that has finished takes nothing, one that is nominated takes its place', () => {
    const small = node('n', { allocatable: { cpu: 1000, memory: 16 * Gi, pods: 9 } });
    expect(where(pod('p'), [small], [running('r', 'n', { finished: true })])).toEqual(['n']);
    expect(where(pod('p'), [small], [pod('other', { nominatedNode: 'n' })])).toEqual([]);
  });
});

describe('nodes that are not open', () => {
  test('one that is not Ready is closed; pods on it still count for others', () => {
    const rules = { podAntiAffinity: [{ topologyKey: 'zone', selector: web }] };
    expect(
      verdicts(
        pod('p', { rules }),
        [{ ...inZone('dead', 'a'), ready: false }, inZone('near', 'a'), inZone('far', 'b')],
        [running('r', 'dead', { labels: { app: 'web' } })],
      ),
    ).toEqual({
      dead: { code: 'place-not-ready' },
      near: { code: 'anti-affinity', selector: 'app=web', within: 'zone' },
      far: undefined,
    });
  });
  test('one that is cordoned takes who tolerates that', () => {
    const cordoned = node('n', { unschedulable: true });
    expect(verdicts(pod('p'), [cordoned])).toEqual({ n: { code: 'cordoned' } });
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    expect(where(pod('p', { tolerations }), [cordoned])).toEqual(['n']);
  });
});

describe('taints', () => {
  const tainted = (effect: 'NoSchedule' | 'NoExecute' | 'PreferNoSchedule') =>
    node('n', { taints: [{ key: 'dedicated', value: 'db', effect }] });
  test.each([
    ['NoSchedule', { code: 'taint-not-tolerated', taint: 'dedicated=db:NoSchedule' }],
    ['NoExecute', { code: 'taint-not-tolerated', taint: 'dedicated=db:NoExecute' }],
    ['PreferNoSchedule', undefined],
  ] as const)('%s', (effect, reason) => {
    expect(verdicts(pod('p'), [tainted(effect)])).toEqual({ n: reason });
  });
  test.each([
    ['its key and value', { key: 'dedicated', value: 'db' }, true],
    ['another value', { key: 'dedicated', value: 'web' }, false],
    ['its key, whatever the value', { key: 'dedicated', operator: 'Exists' }, true],
    ['everything', { operator: 'Exists' }, true],
    ['another effect', { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
  ])('tolerating %s', (_, toleration, yes) => {
    expect(where(pod('p', { tolerations: [toleration] }), [tainted('NoSchedule')])).toEqual(yes ? ['n'] : []);
  });
});

describe('node selector and affinity', () => {
  const nodes = [
    labelled('ssd', { disk: 'ssd', size: '10' }),
    labelled('hdd', { disk: 'hdd', size: '5' }),
    node('bare'),
  ];
  const affinity = (...labels: Requirement[]) =>
    pod('p', { rules: { nodeAffinity: [{ labels, fields: [] }] } });
  test('a selector', () => {
    expect(verdicts(pod('p', { nodeSelector: { disk: 'ssd' } }), nodes)).toEqual({
      ssd: undefined,
      hdd: { code: 'label-needed', key: 'disk', value: 'ssd' },
      bare: { code: 'label-needed', key: 'disk', value: 'ssd' },
    });
  });
  test.each([
    ['In', is('disk', 'ssd', 'tape'), ['ssd']],
    ['NotIn, which an absent label is', { key: 'disk', operator: 'NotIn', values: ['ssd'] }, ['hdd', 'bare']],
    ['Exists', { key: 'disk', operator: 'Exists', values: [] }, ['ssd', 'hdd']],
    ['DoesNotExist', { key: 'disk', operator: 'DoesNotExist', values: [] }, ['bare']],
    ['Gt', { key: 'size', operator: 'Gt', values: ['5'] }, ['ssd']],
    ['Lt', { key: 'size', operator: 'Lt', values: ['10'] }, ['hdd']],
    ['a word is no number', { key: 'disk', operator: 'Gt', values: ['0'] }, []],
  ])('%s', (_, requirement, expected) => {
    expect(where(affinity(requirement), nodes)).toEqual(expected);
  });
  test('one of several terms is enough; a term that says nothing holds nowhere', () => {
    const term = (...labels: Requirement[]) => ({ labels, fields: [] });
    const either = pod('p', { rules: { nodeAffinity: [term(is('disk', 'ssd')), term(is('disk', 'hdd'))] } });
    expect(where(either, nodes)).toEqual(['ssd', 'hdd']);
    expect(where(pod('p', { rules: { nodeAffinity: [term()] } }), nodes)).toEqual([]);
  });
  test('by the node’s own name', () => {
    const named = { labels: [], fields: [is('metadata.name', 'hdd')] };
    expect(where(pod('p', { rules: { nodeAffinity: [named] } }), nodes)).toEqual(['hdd']);
  });
});

describe('anti-affinity', () => {
  const nodes = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b'), node('nowhere')];
  const refuses = (term: Partial<PodTerm>) => ({
    rules: { podAntiAffinity: [{ topologyKey: 'zone', selector: web, ...term }] },
  });
  const other = running('r', 'a1', { labels: { app: 'web' }, namespace: 'other' });
  test('keeps away from the whole domain; a node without the label is in none', () => {
    expect(where(pod('p', refuses({})), nodes, [{ ...other, namespace: 'default' }])).toEqual([
      'b1',
      'nowhere',
    ]);
  });
  test('of a pod that is there already counts as well', () => {
    expect(where(pod('p', { labels: { app: 'web' } }), nodes, [running('r', 'b1', refuses({}))])).toEqual([
      'a1',
      'a2',
      'nowhere',
    ]);
  });
  test.each<[string, Partial<PodTerm>, boolean]>([
    ['its own namespace only', {}, false],
    ['namespaces it names', { namespaces: ['other'] }, true],
    ['namespaces by label', { namespaceSelector: [is('team', 'x')] }, true],
    ['namespaces by another label', { namespaceSelector: [is('team', 'y')] }, false],
    ['all namespaces', { namespaceSelector: [] }, true],
    ['no pod, without a selector', { selector: undefined, namespaceSelector: [] }, false],
  ])('looks at %s', (_, term, kept) => {
    const namespaces = [
      { name: 'default', labels: {} },
      { name: 'other', labels: { team: 'x' } },
    ];
    expect(where(pod('p', refuses(term)), nodes, [other], { namespaces })).toEqual(
      kept ? ['b1', 'nowhere'] : ['a1', 'a2', 'b1', 'nowhere'],
    );
  });
  test('to its own kind: one per domain', () => {
    const { world, kind, at } = worldOf(
      pod('p', { labels: { app: 'web' }, ...refuses({ topologyKey: host }) }),
      nodes,
    );
    expect(howMany(world, kind, at('a1'), 5)).toBe(1);
    put(world, kind, at('a1'), 1);
    expect(misfit(world, kind, at('a1'))).toMatchObject({
      code: 'anti-affinity-of-other',
      selector: 'app=web',
    });
    expect(fits(world, kind, at('a2'))).toBe(true);
  });
});

describe('affinity', () => {
  const lonely = { code: 'pod-affinity', terms: [{ selector: 'app=web', within: 'zone' }] };
  const nodes = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b'), node('nowhere')];
  const wants = (...selectors: Requirement[][]) => ({
    rules: { podAffinity: selectors.map((selector) => ({ topologyKey: 'zone', selector })) },
  });
  test('goes where such a pod is', () => {
    expect(verdicts(pod('p', wants(web)), nodes, [running('r', 'b1', { labels: { app: 'web' } })])).toEqual({
      a1: lonely,
      a2: lonely,
      b1: undefined,
      nowhere: lonely,
    });
  });
  test('nobody of them yet: only one that is of them itself may begin, where the label is', () => {
    expect(where(pod('p', wants(web)), nodes)).toEqual([]);
    expect(where(pod('p', { labels: { app: 'web' }, ...wants(web) }), nodes)).toEqual(['a1', 'a2', 'b1']);
  });
  test('the first has chosen for the others', () => {
    const { world, kind, at } = worldOf(pod('p', { labels: { app: 'web' }, ...wants(web) }), nodes);
    expect(howMany(world, kind, at('a1'), 3)).toBe(3);
    put(world, kind, at('a1'), 1);
    expect([fits(world, kind, at('a2')), fits(world, kind, at('b1'))]).toEqual([true, false]);
  });
  test('several terms: only a pod that all of them mean counts', () => {
    const both = wants(web, [is('tier', 'front')]);
    expect(where(pod('p', both), nodes, [running('r', 'a1', { labels: { app: 'web' } })])).toEqual([]);
    const right = running('r', 'a1', { labels: { app: 'web', tier: 'front' } });
    expect(where(pod('p', both), nodes, [right])).toEqual(['a1', 'a2']);
  });
});

describe('spread', () => {
  const nodes = [inZone('a1', 'a'), inZone('b1', 'b'), node('nowhere')];
  const app = { labels: { app: 'web' } };
  const spread = (rule: Partial<SpreadRule> = {}, more: Partial<Pod> = {}) =>
    pod('p', {
      ...app,
      ...more,
      rules: {
        ...more.rules,
        spread: [{ topologyKey: 'zone', maxSkew: 1, hard: true, selector: web, ...rule }],
      },
    });
  const inA = running('r', 'a1', app);
  test('no domain may be ahead by more than the skew, and a node without the label is out', () => {
    expect(verdicts(spread(), nodes, [inA])).toEqual({
      a1: { code: 'spread-skew', skew: 2, key: 'zone', maxSkew: 1 },
      b1: undefined,
      nowhere: { code: 'spread-label-missing', key: 'zone' },
    });
    expect(where(spread({ maxSkew: 2 }), nodes, [inA])).toEqual(['a1', 'b1']);
    expect(where(spread({ hard: false }), nodes, [inA])).toEqual(['a1', 'b1', 'nowhere']);
  });
  test('how many: as far as the others are, and the skew on top', () => {
    const { world, kind, at } = worldOf(spread({ maxSkew: 2 }), nodes, [inA]);
    expect(howMany(world, kind, at('b1'), 9)).toBe(3);
    expect(howMany(world, kind, at('a1'), 9)).toBe(1);
  });
  test('what is about to go, and what is in another namespace, does not count', () => {
    expect(where(spread(), nodes, [{ ...inA, terminating: true }])).toEqual(['a1', 'b1']);
    expect(where(spread(), nodes, [{ ...inA, namespace: 'other' }])).toEqual(['a1', 'b1']);
  });
  test('nodes that the pod may not go to are no domain, unless it says so', () => {
    const pinned = { nodeSelector: { zone: 'a' } };
    expect(where(spread({}, pinned), nodes, [inA])).toEqual(['a1']);
    expect(where(spread({ ignoresAffinity: true }, pinned), nodes, [inA])).toEqual([]);
  });
  test('nodes it does not tolerate are a domain, unless it says so', () => {
    const tainted = [
      inZone('a1', 'a'),
      { ...inZone('b1', 'b'), taints: [{ key: 'x', effect: 'NoSchedule' as const }] },
    ];
    expect(where(spread(), tainted, [inA])).toEqual([]);
    expect(where(spread({ honorsTaints: true }), tainted, [inA])).toEqual(['a1']);
  });
  test('fewer domains than wanted: the missing ones count as empty', () => {
    expect(where(spread({ minDomains: 2 }), nodes, [inA])).toEqual(['b1']);
    expect(where(spread({ minDomains: 3 }), nodes, [inA, running('r2', 'b1', app)])).toEqual([]);
  });
  test('a selector for every pod counts none, as in kube-scheduler', () => {
    expect(where(spread({ selector: [] }), nodes, [inA, running('r2', 'a1', app)])).toEqual(['a1', 'b1']);
  });
});

describe('host ports', () => {
  const port = (number: number, ip = '0.0.0.0', protocol = 'TCP') => ({
    rules: { ports: [{ ip, protocol, port: number }] },
  });
  test.each([
    ['the same', port(80), port(80), false],
    ['another', port(80), port(81), true],
    ['another protocol', port(80), port(80, '0.0.0.0', 'UDP'), true],
    ['every address and one', port(80), port(80, '10.0.0.1'), false],
    ['one address and every', port(80, '10.0.0.1'), port(80), false],
    ['two addresses', port(80, '10.0.0.1'), port(80, '10.0.0.2'), true],
  ])('%s', (_, mine, theirs, yes) => {
    expect(where(pod('p', mine), [node('n'), node('free')], [running('r', 'n', theirs)])).toEqual(
      yes ? ['n', 'free'] : ['free'],
    );
  });
  test('one of its kind per node', () => {
    const { world, kind, at } = worldOf(pod('p', port(80)), [node('n')]);
    expect(howMany(world, kind, at('n'), 4)).toBe(1);
    put(world, kind, at('n'), 1);
    expect(misfit(world, kind, at('n'))).toEqual({
      code: 'host-port-taken',
      protocol: 'TCP',
      port: 80,
      within: 'the node',
    });
  });
});

describe('volumes', () => {
  const nodes = [inZone('a1', 'a'), inZone('b1', 'b')];
  const uses = { rules: { claims: ['data'] } };
  const zoneA = [{ labels: [is('zone', 'a')], fields: [] }];
  const claim = {
    namespace: 'default',
    name: 'data',
    uid: 'c',
    storageClass: '',
    requested: Gi,
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    volume: 'v',
    bound: true,
    lost: false,
    terminating: false,
  };
  const open = { ...claim, storageClass: 'later', volume: undefined, bound: false };
  const volume = {
    name: 'v',
    labels: {},
    storageClass: '',
    capacity: Gi,
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    available: false,
    terminating: false,
    nodeAffinity: zoneA,
  };
  const later = { name: 'later', waits: true, provisioner: 'x' };
  const judge = (more: Partial<ClusterView>, others: Pod[] = []) =>
    verdicts(pod('p', uses), nodes, others, { claims: [], volumes: [], storageClasses: [], ...more });

  test('a volume it has: where that can be reached', () => {
    expect(judge({ claims: [claim], volumes: [volume] })).toEqual({
      a1: undefined,
      b1: { code: 'volume-affinity', volume: 'v', terms: 'zone=a' },
    });
  });
  test('a zone label of the volume binds nodes that have one', () => {
    const key = 'topology.kubernetes.io/zone';
    const labelledVolume = { ...volume, nodeAffinity: undefined, zones: [is(key, 'z1')] };
    const zoned = [labelled('z1', { [key]: 'z1' }), labelled('z2', { [key]: 'z2' }), node('bare')];
    const cluster = { claims: [claim], volumes: [labelledVolume], storageClasses: [] };
    expect(where(pod('p', uses), zoned, [], cluster)).toEqual(['z1', 'bare']);
  });
  test('a volume yet to be made: where its class may', () => {
    expect(judge({ claims: [open], storageClasses: [later] })).toEqual({ a1: undefined, b1: undefined });
    expect(judge({ claims: [open], storageClasses: [{ ...later, topologies: zoneA }] })).toEqual({
      a1: undefined,
      b1: { code: 'claim-topology', claim: 'data', terms: 'zone=a' },
    });
  });
  test('nobody makes volumes: only where a free one is that will do', () => {
    const local = { ...later, provisioner: undefined };
    const free = { ...volume, storageClass: 'later', available: true };
    const judgeFree = (parts: Partial<typeof free>) =>
      judge({ claims: [open], storageClasses: [local], volumes: [{ ...free, ...parts }] });
    const none = { code: 'no-free-volume', claim: 'data' };
    expect(judgeFree({})).toEqual({ a1: undefined, b1: none });
    expect(judgeFree({ capacity: Gi - 1 }).a1).toEqual(none);
    expect(judgeFree({ available: false }).a1).toEqual(none);
    expect(judgeFree({ accessModes: ['ReadOnlyMany'] }).a1).toEqual(none);
  });
  test.each([
    ['does not exist', {}, 'claim-missing'],
    [
      'is bound at once, but is not yet',
      { claims: [open], storageClasses: [{ ...later, waits: false }] },
      'claim-unbound',
    ],
    ['is being deleted', { claims: [{ ...claim, terminating: true }] }, 'claim-deleting'],
    ['has a volume that is gone', { claims: [claim] }, 'volume-missing'],
  ])('a claim that %s: nowhere', (_, more, code) => {
    const reason = { code, claim: 'data' };
    expect(judge(more)).toEqual({ a1: reason, b1: reason });
  });
  test('for one pod only, in the whole cluster', () => {
    const once = { claims: [{ ...claim, accessModes: ['ReadWriteOncePod'] }], volumes: [volume] };
    expect(judge(once).a1).toBeUndefined();
    expect(judge(once, [running('r', 'b1', uses)]).a1).toMatchObject({
      code: 'claim-in-use',
      claim: 'default/data',
    });
  });
  test('what could not be read is not judged, and it is said so', () => {
    const { world, kind, at } = worldOf(pod('p', uses), nodes);
    expect(fits(world, kind, at('b1'))).toBe(true);
    expect(kind.unmodelled).toEqual(['volumes: claims, volumes and classes could not be read']);
  });
});

test('a gate holds it back everywhere', () => {
  expect(verdicts(pod('p', { gates: ['example.com/wait'] }), [node('n')])).toEqual({
    n: { code: 'gated', gates: ['example.com/wait'] },
  });
});

describe('preferences never block, they order', () => {
  const best = (wanted: Pod, nodes: readonly Node[], others: readonly Pod[] = []): string => {
    const { world, kind } = worldOf(wanted, nodes, others);
    expect(world.places.every((place) => fits(world, kind, place))).toBe(true);
    return byPreference(world, kind)[0] ?? '';
  };
  const byPreference = (world: World, kind: Parameters<typeof preference>[1]): string[] =>
    [...world.places]
      .sort((a, b) => preference(world, kind, b) - preference(world, kind, a))
      .map(({ name }) => name);
  const nodes = [inZone('a1', 'a'), inZone('b1', 'b')];
  test.each<[string, Partial<Pod>, string]>([
    [
      'a node',
      { rules: { nodePreferences: [{ weight: 10, term: { labels: [is('zone', 'b')], fields: [] } }] } },
      'b1',
    ],
    [
      'company',
      { rules: { podPreferences: [{ weight: 10, term: { topologyKey: 'zone', selector: web } }] } },
      'a1',
    ],
    [
      'solitude',
      { rules: { podPreferences: [{ weight: -10, term: { topologyKey: 'zone', selector: web } }] } },
      'b1',
    ],
    [
      'to be spread',
      { rules: { spread: [{ topologyKey: 'zone', maxSkew: 1, hard: false, selector: web }] } },
      'b1',
    ],
  ])('%s', (_, parts, expected) => {
    expect(best(pod('p', parts), nodes, [running('r', 'a1', { labels: { app: 'web' } })])).toBe(expected);
  });
  test('a taint that only asks', () => {
    expect(
      best(pod('p'), [node('asks', { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] }), node('open')]),
    ).toBe('open');
  });
});
