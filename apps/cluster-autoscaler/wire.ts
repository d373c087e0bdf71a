import type { MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

/** A message: its fields as a .proto file has them, "type number" by name. */
type Message = Readonly<Record<string, string>>;

const node = 'ExternalGrpcNode';
const time = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';

/**
 * The externalgrpc provider of the Cluster Autoscaler. Fields that changed their type in 1.35 are written in both
 * forms: a message and the bytes of that message are the same on the wire, so a Node stands where bytes are read.
 */
const messages: Readonly<Record<string, Message>> = {
  NodeGroup: { id: 'string 1', minSize: 'int32 2', maxSize: 'int32 3', debug: 'string 4' },
  ExternalGrpcNode: {
    providerID: 'string 1',
    name: 'string 2',
    labels: 'map<string,string> 3',
    annotations: 'map<string,string> 4',
  },
  NodeGroupsRequest: {},
  NodeGroupsResponse: { nodeGroups: 'repeated NodeGroup 1' },
  NodeGroupForNodeRequest: { node: `${node} 1` },
  NodeGroupForNodeResponse: { nodeGroup: 'NodeGroup 1' },
  PricingNodePriceRequest: { node: `${node} 1`, startTimestamp: `${time} 4`, endTimestamp: `${time} 5` },
  PricingNodePriceResponse: { price: 'double 1' },
  PricingPodPriceRequest: { pod_bytes: 'bytes 4', startTimestamp: `${time} 5`, endTimestamp: `${time} 6` },
  PricingPodPriceResponse: { price: 'double 1' },
  GPULabelRequest: {},
  GPULabelResponse: { label: 'string 1' },
  GetAvailableGPUTypesRequest: {},
  GetAvailableGPUTypesResponse: { gpuTypes: 'map<string,google.protobuf.Any> 1' },
  CleanupRequest: {},
  CleanupResponse: {},
  RefreshRequest: {},
  RefreshResponse: {},
  NodeGroupTargetSizeRequest: { id: 'string 1' },
  NodeGroupTargetSizeResponse: { targetSize: 'int32 1' },
  NodeGroupIncreaseSizeRequest: { delta: 'int32 1', id: 'string 2' },
  NodeGroupIncreaseSizeResponse: {},
  NodeGroupDeleteNodesRequest: { nodes: `repeated ${node} 1`, id: 'string 2' },
  NodeGroupDeleteNodesResponse: {},
  NodeGroupDecreaseTargetSizeRequest: { delta: 'int32 1', id: 'string 2' },
  NodeGroupDecreaseTargetSizeResponse: {},
  NodeGroupNodesRequest: { id: 'string 1' },
  NodeGroupNodesResponse: { instances: 'repeated Instance 1' },
  Instance: { id: 'string 1', status: 'InstanceStatus 2' },
  InstanceStatus: { instanceState: 'int32 1', errorInfo: 'InstanceErrorInfo 2' },
  InstanceErrorInfo: { errorCode: 'string 1', errorMessage: 'string 2', instanceErrorClass: 'int32 3' },
  NodeGroupTemplateNodeInfoRequest: { id: 'string 1' },
  NodeGroupTemplateNodeInfoResponse: { nodeInfo: 'Node 1', nodeBytes: 'Node 2' },
  NodeGroupAutoscalingOptions: {
    scaleDownUtilizationThreshold: 'double 1',
    scaleDownGpuUtilizationThreshold: 'double 2',
    scaleDownUnneededTime: 'OldDuration 3',
    scaleDownUnreadyTime: 'OldDuration 4',
    maxNodeProvisionTime: 'OldDuration 5',
    zeroOrMaxNodeScaling: 'bool 6',
    ignoreDaemonSetsUtilization: 'bool 7',
    scaleDownUnneededDuration: `${duration} 8`,
    scaleDownUnreadyDuration: `${duration} 9`,
    MaxNodeProvisionDuration: `${duration} 10`,
  },
  OldDuration: { duration: 'int64 1' },
  NodeGroupAutoscalingOptionsRequest: { id: 'string 1', defaults: 'NodeGroupAutoscalingOptions 2' },
  NodeGroupAutoscalingOptionsResponse: { nodeGroupAutoscalingOptions: 'NodeGroupAutoscalingOptions 1' },

  // Of Kubernetes' v1.Node, as much as a template has.
  Node: { metadata: 'ObjectMeta 1', spec: 'NodeSpec 2', status: 'NodeStatus 3' },
  ObjectMeta: { name: 'string 1', labels: 'map<string,string> 11', annotations: 'map<string,string> 12' },
  NodeSpec: { providerID: 'string 3', unschedulable: 'bool 4', taints: 'repeated Taint 5' },
  Taint: { key: 'string 1', value: 'string 2', effect: 'string 3' },
  NodeStatus: {
    capacity: 'map<string,Quantity> 1',
    allocatable: 'map<string,Quantity> 2',
    conditions: 'repeated NodeCondition 4',
  },
  NodeCondition: { type: 'string 1', status: 'string 2', reason: 'string 5', message: 'string 6' },
  Quantity: { string: 'string 1' },
};

export const methods = [
  'NodeGroups',
  'NodeGroupForNode',
  'PricingNodePrice',
  'PricingPodPrice',
  'GPULabel',
  'GetAvailableGPUTypes',
  'Cleanup',
  'Refresh',
  'NodeGroupTargetSize',
  'NodeGroupIncreaseSize',
  'NodeGroupDeleteNodes',
  'NodeGroupDecreaseTargetSize',
  'NodeGroupNodes',
  'NodeGroupTemplateNodeInfo',
  'NodeGroupGetOptions',
] as const;
export type Method = (typeof methods)[number];

/** The one method whose messages are not called after it. */
const messagesOf = (method: Method): string =>
  method === 'NodeGroupGetOptions' ? 'NodeGroupAutoscalingOptions' : method;

const fieldPattern =
  /^(?<repeated>repeated )?(?:map<(?<key>\w+),(?<value>[\w.]+)>|(?<type>[\w.]+)) (?<id>\d+)$/;

function fieldOf(text: string): object {
  const { repeated, key, value, type, id } = fieldPattern.exec(text)?.groups ?? {};
  return {
    id: Number(id),
    type: value ?? type,
    ...(key && { keyType: key }),
    ...(repeated && { rule: 'repeated' }),
  };
}

const nested = (all: Readonly<Record<string, Message>>) =>
  Object.fromEntries(
    Object.entries(all).map(([name, fields]) => [
      name,
      { fields: Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, fieldOf(text)])) },
    ]),
  );

const secondsAndNanos = { seconds: 'int64 1', nanos: 'int32 2' };

const packageName = 'clusterautoscaler.cloudprovider.v1.externalgrpc';
const service = {
  CloudProvider: {
    methods: Object.fromEntries(
      methods.map((method) => [
        method,
        { requestType: `${messagesOf(method)}Request`, responseType: `${messagesOf(method)}Response` },
      ]),
    ),
  },
};

// Its type asks for comments on everything, which nothing reads.
const described: unknown = {
  nested: {
    google: {
      nested: {
        protobuf: {
          nested: nested({
            Timestamp: secondsAndNanos,
            Duration: secondsAndNanos,
            Any: { type_url: 'string 1', value: 'bytes 2' },
          }),
        },
      },
    },
    clusterautoscaler: {
      nested: {
        cloudprovider: {
          nested: { v1: { nested: { externalgrpc: { nested: { ...nested(messages), ...service } } } } },
        },
      },
    },
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                ...nested({
                  HealthCheckRequest: { service: 'string 1' },
                  HealthCheckResponse: { status: 'int32 1' },
                }),
                Health: {
                  methods: {
                    Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

const loaded = fromJSON(described as Parameters<typeof fromJSON>[0], {
  keepCase: true,
  longs: Number,
  defaults: true,
});

type Definition = ServiceDefinition<UntypedServiceImplementation>;

export const providerService = loaded[`${packageName}.CloudProvider`] as Definition;
export const healthService = loaded['grpc.health.v1.Health'] as Definition;

/** How a method's messages are read and written: for clients, such as tests and benchmarks. */
export const definitionOf = (method: Method): MethodDefinition<object, object> =>
  providerService[method] as MethodDefinition<object, object>;
