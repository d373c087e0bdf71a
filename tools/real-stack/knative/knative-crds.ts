import type { KubeConfig } from '@kubernetes/client-node';
import { installDefinitions } from '../definitions.ts';

/** Where Knative keeps its definitions, in the modules that its programs are built from. */
const folders = [
  { group: 'knative-eventing', module: 'knative.dev/eventing', folder: 'config/core/resources' },
  {
    group: 'knative-eventing',
    module: 'knative.dev/eventing',
    folder: 'config/channels/in-memory-channel/resources',
  },
  { group: 'knative-serving', module: 'knative.dev/serving', folder: 'config/core/300-resources' },
];

export const installKnativeDefinitions = (kubeConfig: KubeConfig): Promise<string[]> =>
  installDefinitions(kubeConfig, folders);
