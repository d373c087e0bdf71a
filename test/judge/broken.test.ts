import type { Pod } from '../../shared/core/cluster/cluster.ts';
import { decide } from '../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import type { Code } from './finding.ts';
import { generate } from './generate/generator.ts';
import { judge } from './judge.ts';

/** What a decision would look like if one rule had been forgotten: it is made for a snapshot without that rule. */
interface Forgotten {
  readonly family: string;
  readonly without: (snapshot: Snapshot) => Snapshot;
  readonly code: Code;
}

const withPods = (snapshot: Snapshot, change: (pod: Pod) => Pod): Snapshot => ({
  ...snapshot,
  cluster: { ...snapshot.cluster, pods: snapshot.cluster.pods.map(change) },
});

const forgotten: Readonly<Record<string, Forgotten>> = {
  'host anti-affinity': {
    family: 'host-anti-affinity',
    without: (snapshot) =>
      withPods(snapshot, (pod) => ({ ...pod, rules: { ...pod.rules, podAntiAffinity: undefined } })),
    code: 'rule-anti-affinity',
  },
  'zone spread': {
    family: 'zone-spread',
    without: (snapshot) =>
      withPods(snapshot, (pod) => ({ ...pod, rules: { ...pod.rules, spread: undefined } })),
    code: 'rule-spread',
  },
  taints: {
    family: 'taints',
    without: (snapshot) => ({
      ...snapshot,
      machines: snapshot.machines.map((one) => ({ ...one, spec: { ...one.spec, taints: [] } })),
      cluster: {
        ...snapshot.cluster,
        nodes: snapshot.cluster.nodes.map((node) => ({ ...node, taints: [] })),
      },
    }),
    code: 'rule-taints',
  },
  'the zones of volumes': {
    family: 'volumes',
    without: (snapshot) =>
      withPods(snapshot, (pod) => ({ ...pod, rules: { ...pod.rules, claims: undefined } })),
    code: 'rule-volumes',
  },
  'limits of pools': {
    family: 'plain',
    without: (snapshot) => ({
      ...snapshot,
      pools: snapshot.pools.map((pool) => ({
        ...pool,
        limits: { ...pool.limits, maxNodes: 0, cpuCores: 0, memoryMiB: 0 },
        scaleUp: { batchSize: 0 },
      })),
    }),
    code: 'limit-exceeded',
  },
  headroom: {
    family: 'headroom',
    without: (snapshot) => ({
      ...snapshot,
      pools: snapshot.pools.map((pool) => ({ ...pool, headroom: {} })),
    }),
    code: 'headroom-short',
  },
};

test.each(Object.keys(forgotten))('a decision that forgets %s is seen through', (name) => {
  const { family, without, code } = forgotten[name] as Forgotten;
  let seen = 0;
  for (let seed = 0; seed < 80 && seen < 3; seed += 1) {
    const { snapshot, now } = generate(family, seed, { maxPods: 60, maxMachines: 60 });
    const codesOf = (given: Snapshot): Code[] =>
      judge(snapshot, now, decide(given, now)).map((finding) => finding.code);
    if (codesOf(without(snapshot)).includes(code)) seen += 1;
    expect(codesOf(snapshot)).not.toContain(code);
  }
  expect(seen).toBe(3);
});
