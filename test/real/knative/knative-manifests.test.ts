import { CoreV1Api } from '@kubernetes/client-node';
import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { installKnativeDefinitions } from '../../../tools/real-stack/knative/knative-crds.ts';
import { allManifests, type Manifest, manifestsIn } from '../../../tools/real-stack/knative/manifests.ts';
import { createObject } from '../../../tools/real-stack/objects.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const namespace = 'bamel';

describeWith(
  [...controlPlanePrograms, 'go'],
  'knative/ and Knative’s own definitions on a real API server',
  () => {
    let plane: ControlPlane;
    let installed: string[];
    beforeAll(async () => {
      plane = await startControlPlane();
      await plane.kubeConfig
        .makeApiClient(CoreV1Api)
        .createNamespace({ body: { metadata: { name: namespace } } });
      installed = await installKnativeDefinitions(plane.kubeConfig);
    }, 300_000);
    afterAll(() => plane?.close());

    const dryRun = (object: Manifest) =>
      createObject(
        plane.kubeConfig,
        { ...object, metadata: { namespace, ...object.metadata } },
        { dryRun: true },
      );

    test('all of them are taken by this version of Kubernetes', () => {
      expect(installed.length).toBeGreaterThanOrEqual(20);
    });

    test.each(allManifests().map((object) => [`${object.kind} ${object.metadata?.name}`, object] as const))(
      '%s is valid, field by field',
      async (_name, object) => {
        const answered = await dryRun(object);
        expect(answered.metadata?.uid).toMatch(/./);
      },
    );

    test('a misspelt field is refused: the check above means something', async () => {
      const [service] = manifestsIn('services');
      const text = JSON.stringify(service).replace('containerConcurrency', 'containerConcurency');
      await expect(dryRun(JSON.parse(text))).rejects.toThrow(/containerConcurency/);
    });
  },
);
