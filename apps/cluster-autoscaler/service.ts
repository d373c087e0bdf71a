import { status } from '@grpc/grpc-js';
import { capacityOf, isSetAside } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import { knownOf, maxSizeOf } from './bounds.ts';
import { groupOf, type Provider } from './change.ts';
import { errorClasses, type Instance, instanceStates, sizeOf } from './instances.ts';
import type { Group } from './mirror.ts';
import { gpuLabel, gpuTypes, machinePrice, podPrice, type Timestamp } from './pricing.ts';
import { remoteGroup } from './remote-group.ts';
import { decrease, deleteNodes, increase, type NodeName, resume } from './resize.ts';
import { RpcError } from './rpc-error.ts';
import { templateNode } from './template.ts';
import type { Method } from './wire.ts';

export interface ServiceOptions {
  /** Answer NodeGroupGetOptions with what was asked. Some versions then take the time to start for none. */
  readonly options: boolean;
  /** Price of a kWh, for machines that have watts and no hourly rate. */
  readonly kWhPrice?: number | undefined;
}

interface Requests {
  NodeGroups: object;
  NodeGroupForNode: { node: NodeName | null };
  PricingNodePrice: { node: NodeName | null } & Times;
  PricingPodPrice: Times;
  GPULabel: object;
  GetAvailableGPUTypes: object;
  Cleanup: object;
  Refresh: object;
  NodeGroupTargetSize: { id: string };
  NodeGroupIncreaseSize: { id: string; delta: number };
  NodeGroupDeleteNodes: { id: string; nodes: NodeName[] };
  NodeGroupDecreaseTargetSize: { id: string; delta: number };
  NodeGroupNodes: { id: string };
  NodeGroupTemplateNodeInfo: { id: string };
  NodeGroupGetOptions: { id: string; defaults: object | null };
}

interface Times {
  startTimestamp: Timestamp | null;
  endTimestamp: Timestamp | null;
}

/** What answers a method: at once from memory, or after something was done. */
export type Service = {
  readonly [Name in Method]: (request: Requests[Name], signal: AbortSignal) => object | Promise<object>;
};

/** Maximum wait for the first read of all BMCs. */
const firstLooksMs = 30_000;

const nothing = {};
const noGroup = { id: '', minSize: 0, maxSize: 0, debug: '' };

export function createService(provider: Provider, options: ServiceOptions): Service {
  const { mirror, clock } = provider;
  const startedAt = clock.monotonic();
  /** One more slice, of a pool that takes offers. */
  const lentExample = ({ spec }: Group): Machine | undefined =>
    spec.template.provider?.offers && remoteGroup(knownOf(mirror), spec, clock.now())?.example;
  const nodeGroup = (group: Group): object => ({
    id: group.name,
    minSize: group.spec.limits.minNodes,
    maxSize: maxSizeOf(group, mirror, clock.now()),
    debug: `${group.name}: ${group.members.filter((one) => capacityOf(one) === 'serving').length} of ${group.members.length} machines serve`,
  });
  return {
    NodeGroups: () => ({ nodeGroups: mirror.groups().map(nodeGroup) }),
    NodeGroupForNode({ node }) {
      const record = node ? mirror.find(node) : undefined;
      // Machines in maintenance are not scaled.
      const group = record && !isSetAside(record) ? mirror.group(record.spec.pool) : undefined;
      return { nodeGroup: group ? nodeGroup(group) : noGroup };
    },
    NodeGroupTargetSize: ({ id }) => ({ targetSize: sizeOf(groupOf(mirror, id).instances) }),
    NodeGroupNodes: ({ id }) => ({ instances: groupOf(mirror, id).instances.map(wireInstance) }),
    NodeGroupTemplateNodeInfo({ id }) {
      const group = groupOf(mirror, id);
      const node = templateNode(group, lentExample(group));
      return { nodeInfo: node, nodeBytes: node };
    },
    async NodeGroupIncreaseSize({ id, delta }, signal) {
      await increase(provider, id, delta, signal);
      return nothing;
    },
    async NodeGroupDeleteNodes({ id, nodes }, signal) {
      await deleteNodes(provider, id, nodes, signal);
      return nothing;
    },
    async NodeGroupDecreaseTargetSize({ id, delta }, signal) {
      await decrease(provider, id, delta, signal);
      return nothing;
    },
    NodeGroupGetOptions({ id, defaults }) {
      if (!options.options)
        throw new RpcError(status.UNIMPLEMENTED, 'the options of all node groups are those of the flags');
      groupOf(mirror, id);
      return { nodeGroupAutoscalingOptions: defaults };
    },
    PricingNodePrice({ node, startTimestamp, endTimestamp }) {
      const record = node ? mirror.find(node) : undefined;
      const template = /^template-(.+)$/.exec(node?.name ?? '')?.[1];
      const group = template === undefined ? undefined : mirror.group(template);
      const spec = record?.spec ?? (group && (lentExample(group) ?? group.members[0])?.spec);
      if (!spec) throw new RpcError(status.NOT_FOUND, `node ${node?.name} is no machine of ours`);
      return { price: machinePrice(spec, options.kWhPrice, startTimestamp, endTimestamp) };
    },
    PricingPodPrice: ({ startTimestamp, endTimestamp }) => ({
      price: podPrice(mirror.groups(), startTimestamp, endTimestamp),
    }),
    GPULabel: () => ({ label: gpuLabel(mirror.groups()) }),
    GetAvailableGPUTypes: () => ({
      gpuTypes: Object.fromEntries(
        gpuTypes(mirror.groups()).map((type) => [type, { type_url: '', value: Buffer.alloc(0) }]),
      ),
    }),
    Cleanup: () => nothing,
    async Refresh(_request, signal) {
      const unseen = clock.monotonic() - startedAt < firstLooksMs && unseenMachine(mirror.groups());
      // An error here only ends its round; a machine that cannot be had would make it back off for minutes.
      if (unseen) throw new RpcError(status.UNAVAILABLE, `the BMC of ${unseen} has not been read yet`);
      await resume(provider, signal);
      return nothing;
    },
  };
}

const unseenMachine = (groups: readonly Group[]): string | undefined =>
  groups
    .flatMap(({ members }) => members)
    .find(({ spec, status: { powerState } }) => !spec.maintenance && powerState === 'unknown')?.spec.name;

const wireInstance = ({ id, state, error }: Instance): object => ({
  id,
  status: {
    instanceState: instanceStates[state],
    errorInfo: error && {
      errorCode: error.code,
      errorMessage: error.message,
      instanceErrorClass: errorClasses[error.class],
    },
  },
});
