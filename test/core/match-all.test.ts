import { finder, matchNode } from '../../shared/core/cluster/match.ts';
import { matchAll } from '../../shared/core/cluster/match-all.ts';
import { machine, node, pool, serving } from './support/builders.ts';

const findings = (...given: Parameters<typeof matchAll>) =>
  matchAll(...given).findings.map(({ kind, machine: name, node: on }) =>
    [kind, name, on].filter(Boolean).join(' '),
  );

test('a MAC address, on an annotation or a label, however it is written', () => {
  const one = machine('m1', { spec: { macAddress: '52:54:00:AB:cd:01' } });
  const by = (given: object) => matchNode(one, [node('other', given)])?.by;
  expect(by({ annotations: { 'bamel.dev/mac-address': '52-54-00-ab-cd-01' } })).toBe('macAddress');
  expect(by({ annotations: { 'bamel.dev/mac-address': 'aa:aa:aa:aa:aa:aa, 52:54:00:ab:cd:01' } })).toBe(
    'macAddress',
  );
  expect(by({ labels: { 'bamel.dev/mac-address': '525400abcd01' } })).toBe('macAddress');
  expect(by({ annotations: { 'bamel.dev/mac-address': '52:54:00:ab:cd:02' } })).toBeUndefined();
});

test('a node of its name with other network cards is another machine', () => {
  const one = machine('m1', { spec: { macAddress: '52:54:00:ab:cd:01' } });
  const other = node('m1', { annotations: { 'bamel.dev/mac-address': '52:54:00:ab:cd:02' } });
  expect(matchNode(one, [other])).toBeUndefined();
  expect(matchNode(one, [node('m1')])?.by).toBe('name');
});

test('without a providerID of its own it is known by the one we give', () => {
  expect(matchNode(machine('m1'), [node('x', { providerID: 'bamel://m1' })])?.by).toBe('providerID');
});

test('every way of matching is told apart in the index', () => {
  const find = finder([node('a', { systemUUID: 'm1' })]);
  expect(find('name', machine('m1').spec)).toEqual([]);
});

test('a node that came back under a new name: the Ready one is it, the other is left over', () => {
  const one = serving('m1', { spec: { systemUUID: 'u' }, status: { kubernetesNode: 'old' } });
  const nodes = [node('old', { systemUUID: 'u', ready: false }), node('new', { systemUUID: 'u' })];
  const { byMachine, unclear, findings: found } = matchAll([one], nodes, []);
  expect(byMachine.get('m1')?.node.name).toBe('new');
  expect(unclear.size).toBe(0);
  expect(found).toEqual([expect.objectContaining({ kind: 'stranger', machine: 'm1', node: 'old' })]);
});

test('while neither is Ready it stays the one we know, and two Ready ones are told', () => {
  const one = serving('m1', { spec: { systemUUID: 'u' }, status: { kubernetesNode: 'old' } });
  const both = (ready: boolean) => ['old', 'new'].map((name) => node(name, { systemUUID: 'u', ready }));
  expect(matchAll([one], both(false), []).byMachine.get('m1')?.node.name).toBe('old');
  expect([...matchAll([one], both(true), []).unclear]).toEqual(['m1']);
  expect(findings([one], both(true), [])).toEqual(['two-nodes m1']);
});

test('two machines, one node: the surer match wins; of two as sure, neither', () => {
  const sure = machine('a', { spec: { systemUUID: 'u' } });
  const named = machine('n1');
  const one = [node('n1', { systemUUID: 'u' })];
  const won = matchAll([sure, named], one, []);
  expect([...won.byMachine.keys()]).toEqual(['a']);
  expect(findings([sure, named], one, [])).toEqual(['two-machines n1 n1']);
  const twin = machine('b', { spec: { systemUUID: 'u' } });
  const drawn = matchAll([sure, twin], one, []);
  expect([...drawn.byMachine.keys()]).toEqual([]);
  expect([...drawn.unclear].sort()).toEqual(['a', 'b']);
  expect(findings([sure, twin], one, [])).toEqual(['two-machines a n1', 'two-machines b n1']);
});

test('strangers: what is marked as ours, or selected by a pool, and is no machine; nobody else', () => {
  const nodes = [
    node('marked', { labels: { 'bamel.dev/pool': 'workers' } }),
    node('schemed', { providerID: 'bamel://gone' }),
    node('selected', { labels: { rack: 'r1' } }),
    node('foreign'),
  ];
  expect(findings([], nodes, [pool({ nodeSelector: { rack: 'r1' } })])).toEqual([
    'stranger marked',
    'stranger schemed',
    'stranger selected',
  ]);
  expect(findings([], [node('foreign')], [pool()])).toEqual([]);
});

test('on without a node: told of a serving machine, not of one that boots or is off', () => {
  expect(findings([serving('m1')], [], [])).toEqual(['no-node m1']);
  expect(
    findings([machine('m1', { status: { state: 'joining', powerState: 'on' } }), machine('m2')], [], []),
  ).toEqual([]);
});
