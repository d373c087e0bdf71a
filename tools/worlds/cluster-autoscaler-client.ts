import { type ChannelCredentials, Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { definitionOf, type Method } from '../../apps/cluster-autoscaler/wire.ts';

/** What answers have, whichever the method: a test looks at what its method has. */
interface Answer {
  readonly nodeGroups: { readonly id: string; readonly minSize: number; readonly maxSize: number }[];
  readonly nodeGroup: { readonly id: string };
  readonly targetSize: number;
  readonly instances: {
    readonly id: string;
    readonly status: {
      readonly instanceState: number;
      readonly errorInfo: {
        readonly errorCode: string;
        readonly errorMessage: string;
        readonly instanceErrorClass: number;
      } | null;
    };
  }[];
  readonly price: number;
  readonly label: string;
  readonly gpuTypes: Readonly<Record<string, object>>;
  readonly nodeInfo: TemplateNode;
  readonly nodeBytes: TemplateNode;
  readonly nodeGroupAutoscalingOptions: object;
}

interface TemplateNode {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly taints: readonly object[] };
  readonly status: { readonly allocatable: Readonly<Record<string, { readonly string: string }>> };
}

export interface Caller {
  call(method: Method, request?: object, deadlineMs?: number): Promise<Answer>;
  /** The target and the instances, which have to agree. */
  size(pool: string): Promise<number>;
  close(): void;
}

/** The Cluster Autoscaler's end of the wire. */
export function callerOf(
  address: string,
  security: ChannelCredentials = credentials.createInsecure(),
): Caller {
  const client = new Client(address, security);
  const call: Caller['call'] = (method, request = {}, deadlineMs = 30_000) => {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        { deadline: Date.now() + deadlineMs },
        (error: ServiceError | null, answer?: object) => (error ? reject(error) : resolve(answer as Answer)),
      );
    });
  };
  return {
    call,
    async size(pool) {
      for (;;) {
        const { targetSize } = await call('NodeGroupTargetSize', { id: pool });
        const { instances } = await call('NodeGroupNodes', { id: pool });
        const { targetSize: after } = await call('NodeGroupTargetSize', { id: pool });
        // Something was changed between the calls: these answers are of different times.
        if (after !== targetSize) continue;
        const counted = instances.filter((one) => one.status.instanceState !== 3).length;
        if (counted !== targetSize)
          throw new Error(`the target is ${targetSize}, but ${counted} instances count`);
        return targetSize;
      }
    },
    close: () => client.close(),
  };
}
