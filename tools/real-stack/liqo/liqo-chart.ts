import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AdmissionregistrationV1Api,
  CoreV1Api,
  type KubeConfig,
  RbacAuthorizationV1Api,
  type V1ClusterRole,
  type V1MutatingWebhookConfiguration,
  type V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import { parse } from 'yaml';
import { installDefinitions, pathOf } from '../definitions.ts';
import { createObject } from '../objects.ts';

const module = { group: 'liqo', module: 'github.com/liqotech/liqo' };
const chart = { ...module, folder: 'deployments/liqo' };

/** Roles that Liqo binds by itself, to those it gives an identity. */
const roles = [
  'remote-controlplane',
  'virtual-kubelet-remote',
  'virtual-kubelet-remote-clusterwide',
  'virtual-kubelet-local',
];

/** What Liqo's chart installs, as far as its programs need it where there is no network to build. */
export async function installLiqoChart(kubeConfig: KubeConfig, clusterID: string): Promise<void> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const rbac = kubeConfig.makeApiClient(RbacAuthorizationV1Api);
  await installDefinitions(kubeConfig, [{ ...chart, folder: `${chart.folder}/charts/liqo-crds/crds` }]);
  const folder = await pathOf(chart);
  for (const name of roles) {
    const file = join(folder, 'files', `liqo-${name}-ClusterRole.yaml`);
    const { rules } = parse(await readFile(file, 'utf8')) as V1ClusterRole;
    const metadata = { name: `liqo-${name}`, labels: { 'app.kubernetes.io/name': name } };
    await rbac.createClusterRole({ body: { metadata, ...(rules && { rules }) } });
  }
  await core.createNamespace({ body: { metadata: { name: 'liqo' } } });
  await core.createNamespacedConfigMap({
    namespace: 'liqo',
    body: {
      metadata: {
        name: 'liqo-clusterid-configmap',
        labels: { 'app.kubernetes.io/name': 'clusterid-configmap' },
      },
      data: { CLUSTER_ID: clusterID },
    },
  });
  await createObject(kubeConfig, {
    apiVersion: 'offloading.liqo.io/v1beta1',
    kind: 'VkOptionsTemplate',
    metadata: { name: 'virtual-kubelet-default', namespace: 'liqo' },
    spec: {
      replicas: 1,
      createNode: true,
      disableNetworkCheck: true,
      containerImage: 'example/virtual-kubelet',
      metricsEnabled: false,
      // Addresses are the network module's business.
      extraArgs: ['--disable-ip-reflection=true', '--enable-apiserver-support=false'],
    },
  } as Parameters<typeof createObject>[1]);
}

/** Liqo's own list of what its webhook wants to see, with a port of 127.0.0.1 in place of the Service. */
export async function registerLiqoWebhooks(
  kubeConfig: KubeConfig,
  port: number,
  authority: string,
): Promise<void> {
  const api = kubeConfig.makeApiClient(AdmissionregistrationV1Api);
  const caBundle = (await readFile(authority)).toString('base64');
  const folder = join(await pathOf(chart), 'templates', 'webhooks');
  const read = async <Configuration extends Webhooks>(kind: string): Promise<Configuration> => {
    const text = await readFile(join(folder, `liqo-${kind}-webhook.yaml`), 'utf8');
    const configuration = parse(withoutTemplating(text)) as Configuration;
    for (const webhook of configuration.webhooks ?? []) {
      const path = webhook.clientConfig.service?.path ?? '';
      webhook.clientConfig = { url: `https://127.0.0.1:${port}${path}`, caBundle };
      webhook.failurePolicy = 'Fail';
    }
    return { ...configuration, metadata: { name: 'liqo-webhook' } };
  };
  await api.createMutatingWebhookConfiguration({
    body: await read<V1MutatingWebhookConfiguration>('mutating'),
  });
  await api.createValidatingWebhookConfiguration({
    body: await read<V1ValidatingWebhookConfiguration>('validating'),
  });
}

type Webhooks = V1MutatingWebhookConfiguration | V1ValidatingWebhookConfiguration;

const withoutTemplating = (text: string): string =>
  text.replace(/^\s*\{\{-.*\}\}$/gm, '').replace(/\{\{[^}]*\}\}/g, 'given-by-helm');
