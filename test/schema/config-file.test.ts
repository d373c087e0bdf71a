import { ConfigFile } from '../../shared/schema/config.ts';
import { ConfigError, parseConfig } from '../../shared/schema/config-file.ts';

const file = `schemaVersion: v1alpha1
pools:
  - name: closet
machines:
  - name: m-1
    pool: closet
    powerInterface: redfish
    mgmtAddress: https://10.0.0.5
    resources: { cpu: 8, memory: 32Gi }
`;

/** What a person is told, line by line. */
function told(text: string): string[] {
  try {
    parseConfig(text, 'bamel.yaml');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  return [];
}

test('a file without a mistake is given back as it was written', () => {
  expect(parseConfig(file, 'bamel.yaml')).toEqual({
    schemaVersion: 'v1alpha1',
    pools: [{ name: 'closet' }],
    machines: [
      {
        name: 'm-1',
        pool: 'closet',
        powerInterface: 'redfish',
        mgmtAddress: 'https://10.0.0.5',
        resources: { cpu: 8, memory: '32Gi' },
      },
    ],
  });
});

const quantity = 'must be a Kubernetes quantity such as 8, 500m or 32Gi';
const duration = 'not a duration: write "500ms", "90s", "15m", "1h30m" or "2d"';

/** What is written instead of what, and all that is told. */
const mistakes: [what: string, was: string, is: string, message: string][] = [
  [
    'an unknown field of a machine',
    'mgmtAddress',
    'mgmtAdress',
    '8:5 machines[0].mgmtAdress: unknown field. Did you mean mgmtAddress?',
  ],
  [
    'an unknown field in a nested section',
    'cpu: 8',
    'cpu: 8, ram: 1',
    '9:26 machines[0].resources.ram: unknown field.',
  ],
  ['no quantity', '32Gi', '32 GB', `9:26 machines[0].resources.memory: ${quantity}`],
  ['a negative quantity', 'cpu: 8', 'cpu: -8', `9:18 machines[0].resources.cpu: ${quantity}`],
  ['a truth for a quantity', 'cpu: 8', 'cpu: yes', `9:18 machines[0].resources.cpu: ${quantity}`],
  [
    'a part of a GPU',
    'cpu: 8',
    'gpu: 0.5, cpu: 8',
    '9:18 machines[0].resources.gpu: expected int, received number',
  ],
  [
    'an unknown pool',
    'pool: closet',
    'pool: garage',
    '6:5 machines[0].pool: there is no pool garage; there are closet',
  ],
  [
    'two pools of one name',
    '  - name: closet',
    '  - name: closet\n  - name: closet',
    '4:5 pools[1].name: closet is there twice',
  ],
  [
    'a name that no node can have',
    'name: m-1',
    'name: M_1',
    '5:5 machines[0].name: lower-case letters, digits, - and . only, as nodes are named',
  ],
  [
    'minNodes above maxNodes',
    'name: closet',
    'name: closet\n    limits: { minNodes: 3, maxNodes: 2 }',
    '4:15 pools[0].limits.minNodes: must not exceed maxNodes',
  ],
  [
    'no duration',
    'name: closet',
    'name: closet\n    provisionTimeout: 15 minutes',
    `4:5 pools[0].provisionTimeout: ${duration}`,
  ],
  [
    'an unknown timing',
    'pools:',
    'autoscaler: { timings: { bmcTimout: 5s } }\npools:',
    '2:26 autoscaler.timings.bmcTimout: unknown field. Did you mean bmcTimeout?',
  ],
  [
    'a percentage without its sign',
    'pools:',
    'autoscaler: { thresholds: { scaleDown: 30 } }\npools:',
    '2:29 autoscaler.thresholds.scaleDown: write a percentage such as 30%',
  ],
  [
    'more than everything',
    'pools:',
    'autoscaler: { thresholds: { scaleDown: 130% } }\npools:',
    '2:29 autoscaler.thresholds.scaleDown: write at most 100%',
  ],
  [
    'a taint without effect',
    'mgmtAddress:',
    'taints: [{ key: a, effect: NoShedule }]\n    mgmtAddress:',
    '8:24 machines[0].taints[0].effect: expected one of "NoSchedule"|"PreferNoSchedule"|"NoExecute"',
  ],
  ['another version', 'v1alpha1', 'v2', '1:1 schemaVersion: expected "v1alpha1"'],
  ['a section twice', 'machines:', 'pools: []\nmachines:', '4:1 Map keys must be unique'],
  ['a tab', '    pool:', '\tpool:', '6:1 Tabs are not allowed as indentation'],
];

describe('a mistake is told with its place and with what to write', () => {
  test.each(mistakes)('%s', (_, was, is, message) => {
    expect(told(file.replace(was, is))).toEqual([`bamel.yaml:${message}`]);
  });

  test('something missing, at the nearest thing around it', () => {
    const without = file.replace(/ {4}resources.*\n/, '');
    expect(told(without)).toEqual(['bamel.yaml:5:5 machines[0].resources: missing (expected object)']);
  });

  test('two machines of one name, at the second', () => {
    const twice = `${file}${file.slice(file.indexOf('  - name: m-1'))}`;
    expect(told(twice)).toEqual(['bamel.yaml:10:5 machines[1].name: m-1 is there twice']);
  });

  test('broken YAML, where it breaks', () => {
    expect(told(file.replace('32Gi }', '32Gi'))).toEqual([expect.stringMatching(/^bamel\.yaml:\d+:\d+ \w/)]);
  });

  test('an alias of nothing', () => {
    expect(told(file.replace('cpu: 8', 'cpu: *eight'))).toEqual([
      expect.stringMatching(/^bamel\.yaml: Unresolved alias .*: eight$/),
    ]);
  });

  test.each(['', '[]', 'machines'])('no sections at all: %j', (text) => {
    expect(told(text)).toEqual([expect.stringMatching(/^bamel\.yaml:1:1 expected object/)]);
  });

  test('several at once, all of them', () => {
    const wrong = file
      .replace('mgmtAddress', 'mgmtAdress')
      .replace('32Gi', 'lots')
      .replace('name: closet', 'name: closet\n    provisionTimeout: soon');
    expect(told(wrong)).toEqual([
      'bamel.yaml:9:5 machines[0].mgmtAdress: unknown field. Did you mean mgmtAddress?',
      `bamel.yaml:4:5 pools[0].provisionTimeout: ${duration}`,
      `bamel.yaml:10:26 machines[0].resources.memory: ${quantity}`,
    ]);
  });
});

test('a file may describe nothing yet', () => {
  expect(ConfigFile.parse(parseConfig('schemaVersion: v1alpha1', 'bamel.yaml'))).toMatchObject({
    pools: [],
    machines: [],
    autoscaler: { dryRun: false, protect: ['control-plane'] },
  });
});
