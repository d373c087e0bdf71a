import { isLeftOver, matchNode } from '../../shared/core/cluster/match.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { machine, node, now } from './support/builders.ts';

const match = (spec: Partial<MachineSpec>, nodes: Parameters<typeof matchNode>[1]) => {
  const found = matchNode(machine('m1', { spec }), nodes);
  return found && [found.node.name, found.by];
};

test.each<[string, Partial<MachineSpec>, Parameters<typeof matchNode>[1], string[] | undefined]>([
  ['nobody there', {}, [], undefined],
  ['by name', {}, [node('m0'), node('m1')], ['m1', 'name']],
  [
    'by providerID, whatever the name',
    { providerID: 'bamel://m1' },
    [node('m1'), node('other', { providerID: 'bamel://m1' })],
    ['other', 'providerID'],
  ],
  [
    'by systemUUID, in whatever case',
    { systemUUID: 'ABCD-1' },
    [node('other', { systemUUID: 'abcd-1' })],
    ['other', 'systemUUID'],
  ],
  [
    'providerID before systemUUID',
    { providerID: 'p', systemUUID: 'u' },
    [node('a', { systemUUID: 'u' }), node('b', { providerID: 'p' })],
    ['b', 'providerID'],
  ],
  [
    "not under its own name with another machine's UUID",
    { systemUUID: 'u1' },
    [node('m1', { systemUUID: 'u2' })],
    undefined,
  ],
  ['by name while the node shows no UUID', { systemUUID: 'u1' }, [node('m1')], ['m1', 'name']],
  ['by name when we know no UUID', {}, [node('m1', { systemUUID: 'u2' })], ['m1', 'name']],
  ['absent identities are not the same identity', {}, [node('other')], undefined],
])('%s', (_name, spec, nodes, expected) => {
  expect(match(spec, nodes)).toEqual(expected);
});

describe('a node left over from before the power-on', () => {
  const left = node('m1', { bootID: 'boot-1' });
  const since = (status: object) => isLeftOver(machine('m1', { status }), left);

  test('shows the boot that joined last', () => {
    expect(since({ bootID: 'boot-1', bootTime: now })).toBe(true);
  });
  test('is new when it shows another boot', () => {
    expect(since({ bootID: 'boot-0', bootTime: now })).toBe(false);
  });
  test('cannot be told without an earlier boot', () => {
    expect(since({ bootTime: now })).toBe(false);
  });
  test('is no question once it joined, nor for a machine nobody powered on', () => {
    expect(since({ bootID: 'boot-1', bootTime: now, joinTime: now })).toBe(false);
    expect(since({ bootID: 'boot-1' })).toBe(false);
  });
});
