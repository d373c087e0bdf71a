import { CustomObjectsApi } from '@kubernetes/client-node';
import { until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const racks = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `racks.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Rack', plural: 'racks', singular: 'rack', listKind: 'RackList', shortNames: ['rk'] },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  mode: { type: 'string', enum: ['on', 'off'], default: 'off' },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                },
              },
              status: { type: 'object', properties: { state: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
});

/** CustomResourceDefinitions and what they define. */
export function customResourceTests(subject: Subject): void {
  test('a definition serves its objects until it is deleted, and they go with it', async () => {
    const group = `${subject.namespace}.example.com`;
    const path = `${definitions}/racks.${group}`;
    const created = await subject.send('POST', definitions, { body: racks(group) });
    expect(created.code).toBe(201);
    await until('it is established', async () => {
      const { body } = await subject.send('GET', path);
      return body.status.conditions.some(({ type, status }) => type === 'Established' && status === 'True');
    });
    const objects = `/apis/${group}/v1alpha1/namespaces/${subject.namespace}/racks`;
    await until('its objects are served', async () => (await subject.send('GET', objects)).code === 200);
    const { body: resources } = await subject.send('GET', `/apis/${group}/v1alpha1`);
    expect(resources.resources).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'racks', kind: 'Rack', shortNames: ['rk'] }),
        expect.objectContaining({ name: 'racks/status' }),
      ]),
    );

    const head = { apiVersion: `${group}/v1alpha1`, kind: 'Rack' };
    const body = {
      ...head,
      metadata: { name: 'r1' },
      spec: { size: 3, unknown: 1 },
      status: { state: 'ignored' },
    };
    const rack = await subject.send('POST', objects, { body });
    expect(rack).toMatchObject({ code: 201, body: { metadata: { generation: 1 } } });
    expect(rack.body.spec).toEqual({ size: 3, mode: 'off' });
    expect(rack.body.status).toBeUndefined();

    const wrong = await subject.send('POST', objects, {
      body: { ...head, metadata: { name: 'r2' }, spec: { size: 'big' } },
    });
    expect(wrong).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    expect(wrong.body.message).toMatch(/Rack\.\S+ "r2" is invalid: spec\.size: Invalid value: "string"/);
    const several = await subject.send('POST', objects, {
      body: { ...head, metadata: { name: 'r3' }, spec: { mode: 'idle' } },
    });
    const fields = several.body.details.causes.map(({ field }) => field);
    expect(fields.toSorted()).toEqual(['spec.mode', 'spec.size']);

    const custom = subject.kubeConfig.makeApiClient(CustomObjectsApi);
    const at = { group, version: 'v1alpha1', namespace: subject.namespace, plural: 'racks', name: 'r1' };
    const watch = await subject.watch(objects, { resourceVersion: rack.body.metadata.resourceVersion });
    await custom.replaceNamespacedCustomObjectStatus({
      ...at,
      body: { ...rack.body, spec: { size: 99 }, status: { state: 'ready' } },
    });
    const read = await subject.send('GET', `${objects}/r1`);
    expect(read.body).toMatchObject({
      metadata: { generation: 1 },
      spec: { size: 3 },
      status: { state: 'ready' },
    });
    const patched = await subject.send('PATCH', `${objects}/r1`, {
      body: { spec: { size: 4 }, status: { state: 'lost' } },
      type: 'application/merge-patch+json',
    });
    expect(patched.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { size: 4 },
      status: { state: 'ready' },
    });
    await until('the watch told both', async () => watch.seen.length >= 2);
    expect(watch.seen.map(({ type }) => type)).toEqual(['MODIFIED', 'MODIFIED']);
    const strategic = await subject.send('PATCH', `${objects}/r1`, {
      body: {},
      type: 'application/strategic-merge-patch+json',
    });
    expect(strategic.code).toBe(415);
    const blind = { ...head, metadata: { name: 'r1' }, spec: { size: 5 } };
    expect((await subject.send('PUT', `${objects}/r1`, { body: blind })).code).toBe(422);

    await subject.send('DELETE', path);
    await until('the definition is gone', async () => (await subject.send('GET', path)).code === 404);
    await until(
      'its objects are no longer served',
      async () => (await subject.send('GET', objects)).code === 404,
    );
    await until(
      'the watch said that the object went',
      async () => watch.seen.some(({ type }) => type === 'DELETED') || undefined,
    );
  });
}
