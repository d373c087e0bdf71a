import type { DaemonSet, Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import {
  addMachine,
  closePlace,
  createWorld,
  fits,
  howMany,
  kindOf,
  mark,
  misfit,
  put,
  rollback,
} from '../../../shared/core/simulate/simulated-cluster.ts';
import { Gi, machine, node, pod, pool, running, serving, snapshot } from '../support/builders.ts';

const joining = (name: string, spec: Partial<Machine['spec']> = {}): Machine =>
  machine(name, { spec, status: { state: 'joining', powerState: 'on' } });

const daemon = (name: string, parts: Partial<Pod> = {}): DaemonSet => ({
  namespace: 'kube-system',
  name,
  template: pod(name, { requests: { cpu: 500 }, belongsToNode: true, ...parts }),
});

const noGpu = { code: 'taint-not-tolerated', taint: 'gpu:NoSchedule' };

function misfitOn(
  wanted: Pod,
  given: Machine,
  parts: Parameters<typeof snapshot>[0] = {},
  daemonSets: DaemonSet[] = [],
) {
  const base = snapshot({ ...parts, pods: [wanted, ...(parts.pods ?? [])] });
  const world = createWorld({ ...base, cluster: { ...base.cluster, daemonSets } });
  return misfit(world, kindOf(world, wanted), addMachine(world, given));
}

describe('a machine that is off, as the node it would be', () => {
  const labels = (nodeSelector: Record<string, string>) => pod('p', { nodeSelector });
  test.each([
    ['its own labels', { rack: 'r1' }, true],
    ['its pool', { 'bamel.dev/pool': 'workers' }, true],
    ['its name', { 'kubernetes.io/hostname': 'm1' }, true],
    ['its operating system', { 'kubernetes.io/os': 'linux' }, true],
    ['the architecture of its pool’s template', { 'kubernetes.io/arch': 'arm64' }, true],
    ['labels of its pool’s template', { tier: 'gold' }, true],
    ['what nobody said', { 'kubernetes.io/arch': 'amd64' }, false],
  ])('has %s', (_, selector, yes) => {
    const pools = [pool({ template: { architecture: 'arm64', labels: { tier: 'gold' } } })];
    const why = misfitOn(labels(selector), machine('m1', { spec: { labels: { rack: 'r1' } } }), { pools });
    expect(why === undefined).toBe(yes);
  });
  test('has the architecture that all nodes have', () => {
    const nodes = ['a', 'b'].map((name) => node(name, { labels: { 'kubernetes.io/arch': 'amd64' } }));
    expect(misfitOn(labels({ 'kubernetes.io/arch': 'amd64' }), machine('m1'), { nodes })).toBeUndefined();
  });
  test('has its taints, but not those that go by themselves', () => {
    const tainted = (key: string) => machine('m1', { spec: { taints: [{ key, effect: 'NoSchedule' }] } });
    const pools = [pool({ startupTaints: [{ key: 'booting', effect: 'NoSchedule' }] })];
    expect(misfitOn(pod('p'), tainted('gpu'), { pools })).toEqual(noGpu);
    for (const key of ['booting', 'startup-taint.cluster-autoscaler.kubernetes.io/x'])
      expect(misfitOn(pod('p'), tainted(key), { pools })).toBeUndefined();
  });
  test('has less by the DaemonSet pods that will be there, and only those', () => {
    const whole = pod('p', { requests: { cpu: 4000 } });
    expect(misfitOn(whole, machine('m1'))).toBeUndefined();
    expect(misfitOn(whole, machine('m1'), {}, [daemon('log')])).toEqual({
      code: 'no-room',
      resource: 'cpu',
      needed: 4000,
      free: 3500,
    });
    expect(
      misfitOn(whole, machine('m1'), {}, [daemon('gpu', { nodeSelector: { gpu: 'yes' } })]),
    ).toBeUndefined();
    const tainted = machine('m1', { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } });
    const tolerant = { ...whole, tolerations: [{ key: 'x', operator: 'Exists' }] };
    expect(misfitOn(tolerant, tainted, {}, [daemon('log')])).toBeUndefined();
  });
  test('has company and ports taken by those pods, until it is taken back', () => {
    const near = { topologyKey: 'kubernetes.io/hostname', namespaceSelector: [] };
    const selector = [{ key: 'app', operator: 'In', values: ['csi'] }];
    const ports = [{ ip: '0.0.0.0', protocol: 'TCP', port: 9100 }];
    const csi = daemon('csi', { labels: { app: 'csi' }, rules: { ports } });
    const needy = pod('p', { rules: { podAffinity: [{ ...near, selector }] } });
    expect(misfitOn(needy, machine('m1'))).toEqual({
      code: 'pod-affinity',
      terms: [{ selector: 'app=csi', within: 'kubernetes.io/hostname' }],
    });
    expect(misfitOn(needy, machine('m1'), {}, [csi])).toBeUndefined();
    expect(misfitOn(pod('p', { rules: { ports } }), machine('m1'), {}, [csi])).toEqual({
      code: 'host-port-taken',
      protocol: 'TCP',
      port: 9100,
      within: 'the node',
    });
    const base = snapshot({ pods: [needy], nodes: [node('n')] });
    const world = createWorld({ ...base, cluster: { ...base.cluster, daemonSets: [csi] } });
    const before = mark(world);
    addMachine(world, machine('m1'));
    rollback(world, before);
    expect(kindOf(world, needy).affinity?.set.counters.map(({ total }) => total)).toEqual([0]);
  });
  test('holds 110 pods unless it is said otherwise', () => {
    const wanted = pod('p', { requests: {} });
    const world = createWorld(snapshot({ pods: [wanted] }));
    expect(howMany(world, kindOf(world, wanted), addMachine(world, machine('m1')), 500)).toBe(110);
  });
  test('is a domain of its own at once, until it is taken back', () => {
    const spread = [
      {
        topologyKey: 'zone',
        maxSkew: 1,
        hard: true,
        selector: [{ key: 'app', operator: 'In', values: ['web'] }],
      },
    ];
    const app = { labels: { app: 'web' } };
    const wanted = pod('p', { ...app, rules: { spread } });
    const world = createWorld(
      snapshot({ nodes: [node('n', { labels: { zone: 'a' } })], pods: [wanted, running('r', 'n', app)] }),
    );
    const kind = kindOf(world, wanted);
    const [there] = world.places;
    if (!there) throw new Error('no place');
    expect(fits(world, kind, there)).toBe(true);
    const before = mark(world);
    const added = addMachine(world, machine('m1', { spec: { labels: { zone: 'b' } } }));
    expect([fits(world, kind, there), howMany(world, kind, added, 9)]).toEqual([false, 2]);
    rollback(world, before);
    expect([fits(world, kind, there), world.places.length]).toEqual([true, 1]);
  });
});

describe('machines on their way and on their way out', () => {
  const places = (machines: Machine[], nodes = [node('other')], pods: Pod[] = []) => {
    const wanted = pod('p');
    const world = createWorld(snapshot({ machines, nodes, pods: [wanted, ...pods] }));
    const kind = kindOf(world, wanted);
    return Object.fromEntries(world.places.map((place) => [place.name, misfit(world, kind, place)]));
  };
  test('one that is coming is there already', () => {
    expect(places([joining('m1')])).toEqual({ other: undefined, m1: undefined });
  });
  test('one whose node is there but not Ready is one place, with the taints that stay', () => {
    const fresh = node('m1', {
      ready: false,
      taints: [
        { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
        { key: 'gpu', effect: 'NoSchedule' },
      ],
    });
    expect(places([joining('m1')], [fresh])).toEqual({ m1: noGpu });
    expect(places([joining('m1')], [{ ...fresh, taints: [] }])).toEqual({ m1: undefined });
  });
  test('one that is leaving is closed, cordoned yet or not', () => {
    const leaving = serving('m1', { status: { state: 'draining' } });
    expect(places([leaving], [node('m1')])).toEqual({ m1: { code: 'being-drained' } });
  });
  test('DaemonSet pods that are on a joining node already are not counted twice', () => {
    const wanted = pod('p', { requests: { cpu: 3500 } });
    const base = snapshot({
      machines: [joining('m1')],
      nodes: [node('m1', { ready: false })],
      pods: [
        wanted,
        running('log-1', 'm1', {
          namespace: 'kube-system',
          requests: { cpu: 500 },
          belongsToNode: true,
          owner: { kind: 'DaemonSet', name: 'log', uid: 'd' },
        }),
      ],
    });
    const world = createWorld({ ...base, cluster: { ...base.cluster, daemonSets: [daemon('log')] } });
    const [place] = world.places;
    if (!place) throw new Error('no place');
    expect(misfit(world, kindOf(world, wanted), place)).toBeUndefined();
  });
});

test('a place that is closed takes no more, and its pods still count', () => {
  const app = { labels: { app: 'web' } };
  const wanted = pod('p', {
    rules: {
      podAffinity: [{ topologyKey: 'zone', selector: [{ key: 'app', operator: 'In', values: ['web'] }] }],
    },
  });
  const nodes = ['n1', 'n2'].map((name) => node(name, { labels: { zone: 'a' } }));
  const world = createWorld(snapshot({ nodes, pods: [wanted, running('r', 'n1', app)] }));
  const [first, second] = world.places;
  if (!first || !second) throw new Error('no places');
  closePlace(world, first);
  expect(misfit(world, kindOf(world, wanted), first)).toEqual({ code: 'being-drained' });
  expect(fits(world, kindOf(world, wanted), second)).toBe(true);
});

describe('a pod that was not in the snapshot', () => {
  const nodes = [
    node('n1', { labels: { disk: 'ssd' }, allocatable: { cpu: 4000, memory: Gi, pods: 9, tpu: 2 } }),
    node('n2'),
  ];
  test('may ask for labels and resources that nobody had asked for', () => {
    const world = createWorld(snapshot({ nodes, pods: [pod('known')] }));
    put(world, kindOf(world, pod('known')), world.places[0] ?? never(), 1);
    const fitting = (wanted: Pod) =>
      world.places.filter((place) => fits(world, kindOf(world, wanted), place)).map(({ name }) => name);
    expect(fitting(pod('late', { requests: {}, nodeSelector: { disk: 'ssd' } }))).toEqual(['n1']);
    expect(fitting(pod('late', { requests: { tpu: 2 } }))).toEqual(['n1']);
    expect(fitting(pod('late', { requests: { cpu: 4000 } }))).toEqual(['n2']);
  });
  test('must not have rules about other pods', () => {
    const world = createWorld(snapshot({ nodes }));
    const late = pod('late', { rules: { podAntiAffinity: [{ topologyKey: 'zone', selector: [] }] } });
    expect(() => kindOf(world, late)).toThrow(/default\/late .* add it to the snapshot/);
  });
});

test('pods that nobody can tell apart are one kind, whatever their names and labels', () => {
  const pods = [
    pod('a', { labels: { app: 'web', 'pod-name': 'a' }, namespace: 'x' }),
    pod('b', { labels: { app: 'web', 'pod-name': 'b' }, namespace: 'y' }),
  ];
  const kinds = (more: Pod[]) => {
    const world = createWorld(snapshot({ pods: [...pods, ...more] }));
    return new Set(pods.map((one) => kindOf(world, one))).size;
  };
  expect(kinds([])).toBe(1);
  const selector = [{ key: 'pod-name', operator: 'In', values: ['a'] }];
  expect(
    kinds([
      pod('c', { rules: { podAntiAffinity: [{ topologyKey: 'zone', selector, namespaceSelector: [] }] } }),
    ]),
  ).toBe(2);
});

function never(): never {
  throw new Error('no place');
}
