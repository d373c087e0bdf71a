import type { Pod, SchedulingRules } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import { Gi, machine, node, pod, pool, running, serving, snapshot } from '../../core/support/builders.ts';
import type { Short } from '../decisions.ts';
import type { Code } from '../finding.ts';
import { withDisk } from './disk.ts';

/** A decision that is right, and one in which something is wrong. */
interface Row {
  readonly given: Snapshot;
  readonly right: Short;
  readonly wrong: Short;
}

const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';
export const inZone = (name: string, where: string): Machine =>
  machine(name, { spec: { labels: { [zone]: where } } });
export const large = { requests: { cpu: 3000, memory: Gi } };
const web = [{ key: 'app', operator: 'In', values: ['web'] }];
export const webPod = (name: string, rules: SchedulingRules = {}, parts: Partial<Pod> = {}): Pod =>
  pod(name, { labels: { app: 'web' }, rules, ...parts });
const two = [machine('m1'), machine('m2')];
const apart = { podAntiAffinity: [{ topologyKey: host, selector: web }] };
const together = { podAffinity: [{ topologyKey: zone, selector: web }] };
export const even = { spread: [{ topologyKey: zone, selector: web, maxSkew: 1, hard: true }] };

const usesDisk = { rules: { claims: ['disk'] } };

const simple = snapshot({ machines: two, pods: [pod('p1')] });
const onFirst: Short = { on: ['m1'], assign: { m1: ['p1'] } };
const onSecond: Short = { on: ['m2'], assign: { m2: ['p1'] } };
const both: Short = { on: ['m1'], assign: { m1: ['p1', 'p2'] } };
export const oneEach: Short = { on: ['m1', 'm2'], assign: { m1: ['p1'], m2: ['p2'] } };

export const rows: Readonly<Record<Code, Row>> = {
  'place-unknown': { given: simple, right: onFirst, wrong: { on: ['m1'], assign: { m9: ['p1'] } } },
  'place-shut': {
    given: snapshot({ machines: two, pods: [pod('p1')], nodes: [node('n1', { ready: false })] }),
    right: onFirst,
    wrong: { assign: { n1: ['p1'] } },
  },
  'pod-unknown': { given: simple, right: onFirst, wrong: { on: ['m1'], assign: { m1: ['p1', 'p9'] } } },
  'pod-twice': { given: simple, right: onFirst, wrong: { on: ['m1'], assign: { m1: ['p1', 'p1'] } } },
  'rule-impossible': {
    given: snapshot({ machines: two, pods: [pod('p1', { gates: ['quota'] })] }),
    right: { rejected: { m1: { code: 'gated', gates: ['quota'] } } },
    wrong: onFirst,
  },
  'rule-labels': {
    given: snapshot({
      machines: [machine('m1'), machine('m2', { spec: { labels: { disk: 'ssd' } } })],
      pods: [pod('p1', { nodeSelector: { disk: 'ssd' } })],
    }),
    right: { ...onSecond, rejected: { m1: { code: 'label-needed', key: 'disk', value: 'ssd' } } },
    wrong: onFirst,
  },
  'rule-taints': {
    given: snapshot({
      machines: [machine('m1', { spec: { taints: [{ key: 'db', effect: 'NoSchedule' }] } }), machine('m2')],
      pods: [pod('p1')],
    }),
    right: { ...onSecond, rejected: { m1: { code: 'taint-not-tolerated', taint: 'db:NoSchedule' } } },
    wrong: onFirst,
  },
  'rule-cordon': {
    given: snapshot({ machines: two, pods: [pod('p1')], nodes: [node('n1', { unschedulable: true })] }),
    right: onFirst,
    wrong: { assign: { n1: ['p1'] } },
  },
  'rule-volumes': {
    given: withDisk(
      snapshot({ machines: [inZone('m1', 'a'), inZone('m2', 'b')], pods: [pod('p1', usesDisk)] }),
      'ReadWriteOnce',
      'b',
    ),
    right: { ...onSecond, rejected: { m1: { code: 'volume-affinity', volume: 'disk', terms: `${zone}=b` } } },
    wrong: onFirst,
  },
  'rule-resources': {
    given: snapshot({ machines: two, pods: [pod('p1', large), pod('p2', large)] }),
    right: oneEach,
    wrong: both,
  },
  'rule-ports': {
    given: snapshot({
      machines: two,
      pods: ['p1', 'p2'].map((name) =>
        pod(name, { rules: { ports: [{ ip: '0.0.0.0', protocol: 'TCP', port: 80 }] } }),
      ),
    }),
    right: oneEach,
    wrong: both,
  },
  'rule-claim': {
    given: withDisk(
      snapshot({ machines: two, pods: [pod('p1', usesDisk), pod('p2', usesDisk)] }),
      'ReadWriteOncePod',
    ),
    right: {
      ...onFirst,
      rejected: { m2: { code: 'claim-in-use', claim: 'default/disk', within: 'the cluster' } },
    },
    wrong: both,
  },
  'rule-anti-affinity': {
    given: snapshot({ machines: two, pods: [webPod('p1', apart), webPod('p2')] }),
    right: oneEach,
    wrong: both,
  },
  'rule-affinity': {
    given: snapshot({
      machines: [inZone('m1', 'a'), inZone('m2', 'b'), inZone('m3', 'a')],
      pods: [webPod('p1', together, large), webPod('p2', together, large)],
    }),
    right: { on: ['m1', 'm3'], assign: { m1: ['p1'], m3: ['p2'] } },
    wrong: oneEach,
  },
  'rule-spread': {
    given: snapshot({
      machines: [inZone('m1', 'a'), inZone('m2', 'b')],
      nodes: ['a', 'b'].map((where) => node(`full-${where}`, { labels: { [zone]: where }, allocatable: {} })),
      pods: [webPod('p1', even), webPod('p2', even)],
    }),
    right: oneEach,
    wrong: both,
  },
  'power-on-ineligible': {
    given: snapshot({
      machines: [machine('m1', { status: { bmcReachable: false } }), machine('m2')],
      pods: [pod('p1')],
    }),
    right: { ...onSecond, rejected: { m1: { code: 'bmc-silent' } } },
    wrong: onFirst,
  },
  'limit-exceeded': {
    given: snapshot({
      machines: two,
      pods: [pod('p1', large), pod('p2', large)],
      pools: [pool({ maxNodes: 1 })],
    }),
    right: {
      ...onFirst,
      rejected: { m2: { code: 'at-limit', pool: 'workers', limit: 'maxNodes', most: 1 } },
    },
    wrong: oneEach,
  },
  'unserved-room': {
    given: snapshot({ pods: [pod('p1')], nodes: [node('n1')] }),
    right: { assign: { n1: ['p1'] } },
    wrong: {},
  },
  'unserved-machine': { given: simple, right: onFirst, wrong: {} },
  'power-on-idle': { given: simple, right: onFirst, wrong: { ...onFirst, on: ['m1', 'm2'] } },
  'power-on-unneeded': {
    given: snapshot({ machines: two, pods: [pod('p1'), pod('p2')] }),
    right: both,
    wrong: oneEach,
  },
  'reason-false': {
    given: simple,
    right: { ...onFirst, rejected: { m2: { code: 'not-needed' } } },
    wrong: {
      ...onFirst,
      rejected: { m2: { code: 'at-limit', pool: 'workers', limit: 'maxNodes', most: 5 } },
    },
  },
  'reason-unknown': {
    given: simple,
    right: { ...onFirst, rejected: { m2: { code: 'not-needed' } } },
    wrong: { ...onFirst, rejected: { m2: { code: 'last-ready-node' } } },
  },
  'count-demand': { given: simple, right: onFirst, wrong: { ...onFirst, demand: 2 } },
  'count-unmet': { given: simple, right: onFirst, wrong: { ...onFirst, unmet: 1 } },
  'headroom-short': {
    given: snapshot({ machines: two, pools: [pool({ headroom: { cpu: 2000 } })] }),
    right: { on: ['m1'], wants: ['pool workers keeps 2 cpu free'] },
    wrong: {},
  },
  'minimum-short': {
    given: snapshot({ machines: two, pools: [pool({ minNodes: 1 })] }),
    right: { on: ['m1'], wants: ['pool workers keeps at least 1 on'] },
    wrong: {},
  },
  'drain-order': {
    // With n2 gone too, the large pod finds no node when the two small ones come first.
    given: snapshot({
      machines: [serving('n1'), serving('n2'), serving('n3')],
      nodes: [node('n1'), node('n2'), node('n3')],
      pods: [
        running('a1', 'n1', { requests: { cpu: 1500, memory: Gi } }),
        running('b1', 'n2', { requests: { cpu: 3000, memory: Gi } }),
      ],
    }),
    right: { drain: ['n1'] },
    wrong: { drain: ['n1', 'n2'] },
  },
};
