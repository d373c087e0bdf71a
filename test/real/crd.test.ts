import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith, findProgram } from '../../tools/support/programs.ts';
import { send, until } from '../../tools/worlds/cluster-client.ts';
import { newFolder } from '../support/cleanup.ts';
import { apply, pathOf } from '../sync-inventory/definitions.ts';
import { definitionsContract } from '../sync-inventory/definitions-suite.ts';

const run = promisify(execFile);

describeWith(controlPlanePrograms, 'on kube-apiserver', () => {
  let plane: ControlPlane;
  definitionsContract(
    'kube-apiserver',
    async () => {
      plane = await startControlPlane();
      return plane;
    },
    (kubeConfig, namespace) => {
      const machine = {
        pool: 'p',
        powerInterface: 'redfish',
        mgmtAddress: 'https://a',
        resources: { cpu: 1, memory: '1Gi' },
      };
      test.each([
        ['an unknown field', 'BareMetalNode', { ...machine, powerInterfcae: 'x' }, 'powerInterfcae'],
        [
          'more at least than at most',
          'NodePool',
          { limits: { minNodes: 3, maxNodes: 2 } },
          'minNodes must not exceed maxNodes',
        ],
        [
          'more watts idle than busy',
          'BareMetalNode',
          { ...machine, watts: { idle: 9, max: 3 } },
          'idle must not exceed max',
        ],
        [
          'redfish without an address',
          'BareMetalNode',
          { ...machine, mgmtAddress: undefined },
          'redfish needs mgmtAddress',
        ],
      ])('%s is refused', async (_, kind, spec, message) => {
        const { code, body } = await apply(kubeConfig(), pathOf(namespace(), kind, 'wrong'), {
          apiVersion: 'bamel.dev/v1alpha1',
          kind,
          metadata: { name: 'wrong' },
          spec,
        });
        expect([code, body.message]).toEqual([expect.any(Number), expect.stringContaining(message)]);
        expect([400, 422, 500]).toContain(code);
      });

      test('every definition is established and structural, without a complaint', async () => {
        const { body } = await send(
          kubeConfig(),
          'GET',
          '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        );
        const ours = body.items.filter(({ metadata }) => metadata.name.endsWith('.bamel.dev'));
        expect(ours).toHaveLength(3);
        for (const { status } of ours) {
          const holding = status.conditions.filter((one) => one.status === 'True').map(({ type }) => type);
          expect(holding.sort()).toEqual(['Established', 'NamesAccepted']);
        }
      });

      test('OpenAPI, which kubectl explain reads, has the descriptions', async () => {
        const body = await until('it is published', async () => {
          const answer = await send(kubeConfig(), 'GET', '/openapi/v3/apis/bamel.dev/v1alpha1');
          return answer.code === 200 && answer.body;
        });
        const { schemas } = (
          body as unknown as {
            components: {
              schemas: Record<
                string,
                { properties: Record<string, { properties: Record<string, { description?: string }> }> }
              >;
            };
          }
        ).components;
        const fields = schemas['dev.bamel.v1alpha1.BareMetalNode']?.properties.spec?.properties ?? {};
        expect(Object.keys(fields)).toEqual(expect.arrayContaining(['pool', 'powerInterface', 'resources']));
        for (const { description } of Object.values(fields)) expect(description).toMatch(/\w{3}/);
      });

      describeWith(['kubectl'], 'kubectl', () => {
        test('kubectl get bmn,nodepools,bma reads well', async () => {
          const folder = newFolder();
          const file = join(folder, 'kubeconfig');
          writeFileSync(file, kubeConfig().exportConfig());
          const get = async (...args: string[]) =>
            (
              await run(findProgram('kubectl') ?? 'kubectl', [
                `--kubeconfig=${file}`,
                `--cache-dir=${folder}`,
                '-n',
                namespace(),
                'get',
                ...args,
              ])
            ).stdout;
          const text = await get('bmn,nodepools,bma');
          expect(text).toMatch(/^NAME +POOL +STATE +POWER +NODE +SINCE +AGE$/m);
          expect(text).toMatch(/^baremetalnode.bamel.dev\/tower-1 +closet /m);
          expect(text).toMatch(/^NAME +READY +PENDING +MACHINES +MIN +MAX +HEALTH +AGE$/m);
          expect(await get('bamel', '-o', 'name')).toContain('baremetalautoscaler.bamel.dev/home');
        });
      });
    },
  );
});
