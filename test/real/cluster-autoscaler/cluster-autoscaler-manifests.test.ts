import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { V1ConfigMap, V1Deployment, V1NetworkPolicy, V1Service } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { describeWith, findProgram } from '../../../tools/support/programs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describeWith(['kubectl'], 'config/cluster-autoscaler, as kubectl makes it', () => {
  let objects: Map<string, unknown>;
  const find = <Kind>(name: string): Kind => objects.get(name) as Kind;
  beforeAll(() => {
    const text = execFileSync(
      findProgram('kubectl') ?? 'kubectl',
      ['kustomize', 'config/cluster-autoscaler'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    objects = new Map(
      parseAllDocuments(text).map((document) => {
        const object = document.toJS() as V1Service;
        return [`${object.kind} ${object.metadata?.namespace ?? ''}/${object.metadata?.name}`, object];
      }),
    );
  });

  test('the host has the settings, the port and the files that they name', () => {
    const { data = {} } = find<V1ConfigMap>('ConfigMap bamel/bamel-host');
    const pod = find<V1Deployment>('Deployment bamel/bamel-host').spec?.template.spec;
    const [container] = pod?.containers ?? [];
    expect(container?.ports).toContainEqual({ name: 'grpc', containerPort: Number(data.BAMEL_GRPC_PORT) });
    // What config/default gave it is still there.
    expect(data).toHaveProperty('BAMEL_STORE');
    expect(container?.ports?.map(({ name }) => name)).toEqual(expect.arrayContaining(['grpc', 'http']));
    const mounts = container?.volumeMounts ?? [];
    for (const setting of ['BAMEL_GRPC_CERT', 'BAMEL_GRPC_KEY', 'BAMEL_GRPC_CA', 'BAMEL_TOKEN_FILE']) {
      const mount = mounts.find(({ mountPath }) => data[setting]?.startsWith(`${mountPath}/`));
      expect([setting, pod?.volumes?.some(({ name }) => name === mount?.name)]).toEqual([setting, true]);
    }
  });

  test('the Cluster Autoscaler is told the Service, which leads to the port, and the network lets it in', () => {
    const { data = {} } = find<V1ConfigMap>('ConfigMap kube-system/cluster-autoscaler-cloud-config');
    const service = find<V1Service>('Service bamel/bamel-grpc');
    const [port] = service.spec?.ports ?? [];
    expect(data['cloud-config.yaml']).toContain(`bamel-grpc.bamel.svc:${port?.port}`);
    expect(port?.targetPort).toBe('grpc');
    const labels = find<V1Deployment>('Deployment bamel/bamel-host').spec?.template.metadata?.labels;
    expect(labels).toMatchObject(service.spec?.selector ?? { none: '' });
    const [rule] = find<V1NetworkPolicy>('NetworkPolicy bamel/bamel-grpc').spec?.ingress ?? [];
    expect(rule?.ports).toEqual([{ protocol: 'TCP', port: port?.port }]);
    expect(rule).toMatchObject({ from: [{ podSelector: { matchLabels: { app: 'cluster-autoscaler' } } }] });
    const caller = find<V1Deployment>('Deployment kube-system/cluster-autoscaler').spec?.template.metadata
      ?.labels;
    expect(caller).toMatchObject({ app: 'cluster-autoscaler' });
  });
});
