import { z } from 'zod';
import type { Condition, KubeObject } from '../api/objects.ts';
import type { ResourceType } from '../api/resource-types.ts';

/** Labels, annotations and finalizers of Liqo 1.0 that its parts react to. */
export const liqoNames = {
  remoteCluster: 'liqo.io/remote-cluster-id',
  tenantNamespace: 'liqo.io/tenant-namespace',
  replicateTo: 'liqo.io/remoteID',
  replication: 'liqo.io/replication',
  createVirtualNode: 'liqo.io/create-virtual-node',
  nonce: 'liqo.io/nonce',
  signedNonce: 'liqo.io/signed-nonce',
  nodeType: 'liqo.io/type',
  taint: { key: 'virtual-node.liqo.io/not-allowed', value: 'true', effect: 'NoExecute' },
  replicated: 'crdreplicator.liqo.io/resource',
  virtualNode: 'virtualnode-controller.liqo.io/finalizer',
} as const;

const Quantities = z.record(z.string(), z.union([z.string(), z.number()]).transform(String));
const SliceSpec = z.strictObject({
  class: z.string().optional(),
  consumerClusterID: z.string().optional(),
  providerClusterID: z.string().optional(),
  resources: Quantities.optional(),
  csr: z.string().optional(),
});

export interface Slice extends KubeObject {
  spec: z.infer<typeof SliceSpec>;
  status?:
    | { conditions?: Condition[] | undefined; resources?: Record<string, string> | undefined }
    | undefined;
}

export interface VirtualNode extends KubeObject {
  spec: { clusterID: string };
  status?: { conditions?: Condition[] | undefined } | undefined;
}

export interface ForeignCluster extends KubeObject {
  status?: { conditions?: Condition[] | undefined } | undefined;
}

export interface Secret extends KubeObject {
  data?: Record<string, string> | undefined;
}

export interface Tenant extends KubeObject {
  spec: {
    clusterID?: string;
    publicKey?: string;
    csr?: string;
    signature?: string;
    tenantCondition?: string;
  };
}

function define<T extends KubeObject>(
  group: string,
  kind: string,
  plural: string,
  more: Partial<ResourceType<T>> = {},
): ResourceType<T> {
  return {
    group: `${group}.liqo.io`,
    version: 'v1beta1',
    kind,
    plural,
    singular: kind.toLowerCase(),
    namespaced: true,
    status: true,
    generation: true,
    needsVersion: true,
    custom: { schema: undefined, columns: [] },
    ...more,
  };
}

export const resourceSlices = define<Slice>('authentication', 'ResourceSlice', 'resourceslices', {
  spec: SliceSpec,
});
export const identities = define('authentication', 'Identity', 'identities');
export const tenants = define<Tenant>('authentication', 'Tenant', 'tenants');
export const virtualNodes = define<VirtualNode>('offloading', 'VirtualNode', 'virtualnodes');
const offloadings = define('offloading', 'NamespaceOffloading', 'namespaceoffloadings');
export const foreignClusters = define<ForeignCluster>('core', 'ForeignCluster', 'foreignclusters', {
  namespaced: false,
});

export const liqoTypes: readonly ResourceType[] = [
  resourceSlices,
  identities,
  tenants,
  virtualNodes,
  offloadings,
  foreignClusters,
];
