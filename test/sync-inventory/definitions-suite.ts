import type { KubeConfig } from '@kubernetes/client-node';
import { freshNamespace, send } from '../../tools/worlds/cluster-client.ts';
import { apply, install, pathOf, samples, tableOf } from './definitions.ts';

export interface DefinitionsHarness {
  readonly kubeConfig: KubeConfig;
  close(): Promise<void>;
}

const machine = {
  pool: 'p',
  powerInterface: 'redfish',
  mgmtAddress: 'https://a',
  resources: { cpu: 1, memory: '1Gi' },
};

/** Kind, spec, and the field that the refusal names. */
const refused: readonly (readonly [string, string, object, string])[] = [
  ['no pool', 'BareMetalNode', { ...machine, pool: undefined }, 'spec.pool'],
  ['a driver that is none', 'BareMetalNode', { ...machine, powerInterface: 'lever' }, 'spec.powerInterface'],
  ['an address that is none', 'BareMetalNode', { ...machine, macAddress: '52-54' }, 'spec.macAddress'],
  [
    'a memory that is a list',
    'BareMetalNode',
    { ...machine, resources: { cpu: 1, memory: [] } },
    'spec.resources.memory',
  ],
  [
    'a taint without effect',
    'BareMetalNode',
    { ...machine, taints: [{ key: 'a' }] },
    'spec.taints[0].effect',
  ],
  ['a negative minimum', 'NodePool', { limits: { minNodes: -1 } }, 'spec.limits.minNodes'],
  [
    'a duration that is none',
    'NodePool',
    { scaleDown: { unneededFor: 'soon' } },
    'spec.scaleDown.unneededFor',
  ],
  ['a policy that is none', 'BareMetalAutoscaler', { deletionPolicy: 'explode' }, 'spec.deletionPolicy'],
];

/** Our CustomResourceDefinitions on an API server. */
export function definitionsContract(
  name: string,
  start: () => Promise<DefinitionsHarness>,
  more: (kubeConfig: () => KubeConfig, namespace: () => string) => void = () => undefined,
): void {
  describe(`the custom resources on ${name}`, () => {
    let harness: DefinitionsHarness;
    let kubeConfig: KubeConfig;
    let namespace = '';
    beforeAll(async () => {
      harness = await start();
      kubeConfig = harness.kubeConfig;
      await install(kubeConfig);
      namespace = await freshNamespace(kubeConfig);
    }, 600_000);
    afterAll(() => harness?.close());

    test('the samples are taken, strictly, and get their defaults', async () => {
      for (const sample of samples()) {
        const { code, body } = await apply(
          kubeConfig,
          pathOf(namespace, sample.kind, sample.metadata.name),
          sample,
        );
        expect([code, body.message]).toEqual([201, undefined]);
      }
      const pool = await send(kubeConfig, 'GET', pathOf(namespace, 'NodePool', 'closet'));
      expect(pool.body.spec).toMatchObject({ limits: { minNodes: 1, maxNodes: 3 }, provisionTimeout: '15m' });
    });

    test('what kubectl get shows', async () => {
      const [tower] = (await tableOf(kubeConfig, pathOf(namespace, 'BareMetalNode'))).slice(1);
      expect(Object.keys(tower ?? {})).toEqual(['Name', 'Pool', 'State', 'Power', 'Node', 'Since', 'Age']);
      expect(tower).toMatchObject({ Name: 'tower-1', Pool: 'closet' });
      const [closet] = await tableOf(kubeConfig, pathOf(namespace, 'NodePool'));
      expect(closet).toMatchObject({ Name: 'closet', Min: 1, Max: 3 });
      const [home] = await tableOf(kubeConfig, pathOf(namespace, 'BareMetalAutoscaler'));
      expect(Object.keys(home ?? {})).toEqual(['Name', 'Machines', 'Ready', 'Dry-Run', 'Unmet', 'Age']);
    });

    test.each(refused)('%s is refused, and the field is named', async (_, kind, spec, field) => {
      const { code, body } = await apply(kubeConfig, pathOf(namespace, kind, 'wrong'), {
        apiVersion: 'bamel.dev/v1alpha1',
        kind,
        metadata: { name: 'wrong' },
        spec,
      });
      expect([code, body.details?.causes?.map((cause) => cause.field)]).toEqual([
        422,
        expect.arrayContaining([field]),
      ]);
    });

    more(
      () => kubeConfig,
      () => namespace,
    );
  });
}
