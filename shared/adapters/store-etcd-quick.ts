import { answerFirst } from '../runtime/answer-first.ts';
import type { EtcdCalls } from './store-etcd-calls.ts';
import { createGateway, GatewayError } from './store-etcd-gateway.ts';
import type { EtcdAddress } from './store-etcd-url.ts';

/**
 * Through the JSON gateway of one member while that works, which needs nothing but node:http. At the first
 * failure, whatever it is, gRPC takes over for good: it knows the other members and every error.
 */
export function quickCalls(address: EtcdAddress, openGrpc: () => Promise<EtcdCalls>): EtcdCalls {
  const gateway = createGateway(address);
  let grpc: Promise<EtcdCalls> | undefined;
  const takeOver = (): Promise<EtcdCalls> => {
    grpc ??= openGrpc();
    return grpc;
  };
  const ask = async <Answer>(
    quickly: () => Promise<Answer>,
    thoroughly: (calls: EtcdCalls) => Promise<Answer>,
    mayRepeat: (error: GatewayError) => boolean = () => true,
  ): Promise<Answer> => {
    if (grpc) return thoroughly(await grpc);
    try {
      return await quickly();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const calls = await takeOver();
      if (!mayRepeat(error)) throw error;
      return thoroughly(calls);
    }
  };
  return {
    kvRange: (request) =>
      ask(
        () => gateway.kvRange(request),
        (calls) => calls.kvRange(request),
      ),
    kvTxn: (request) =>
      ask(
        () => gateway.kvTxn(request),
        (calls) => calls.kvTxn(request),
        ({ mayHaveHappened }) => !mayHaveHappened,
      ),
    leaseGrant: (seconds) =>
      ask(
        () => gateway.leaseGrant(seconds),
        (calls) => calls.leaseGrant(seconds),
      ),
    leaseKeepAlive: (id, withinMs) =>
      ask(
        () => gateway.leaseKeepAlive(id, withinMs),
        (calls) => calls.leaseKeepAlive(id, withinMs),
      ),
    leaseRevoke: (id) =>
      ask(
        () => gateway.leaseRevoke(id),
        (calls) => calls.leaseRevoke(id),
      ),
    watchFrom: (request, onResponse, onEnd) =>
      ask(
        async () => {
          await answerFirst();
          let isCancelled = false;
          const end = () => (isCancelled ? onEnd() : void takeOver().then(onEnd, onEnd));
          const watching = await gateway.watchFrom(request, onResponse, end);
          return {
            cancel() {
              isCancelled = true;
              watching.cancel();
            },
          };
        },
        (calls) => calls.watchFrom(request, onResponse, onEnd),
      ),
    close() {
      gateway.close();
      grpc?.then(
        (calls) => calls.close(),
        // It was never opened: whoever asked was told why.
        () => undefined,
      );
    },
  };
}
