import {
  Etcd3,
  EtcdLeaseInvalidError,
  type IDuplexStream,
  type ILeaseKeepAliveResponse,
  type IWatchRequest,
  type IWatchResponse,
} from 'etcd3';
import { deadlineMs, type EtcdCalls } from './store-etcd-calls.ts';
import { hostChoice } from './store-etcd-hosts.ts';
import type { EtcdAddress } from './store-etcd-url.ts';

type WatchStream = IDuplexStream<IWatchRequest, IWatchResponse>;

/** etcd through etcd3, which speaks gRPC. */
export class EtcdClient extends Etcd3 implements EtcdCalls {
  constructor({ hosts, credentials, serverName, auth }: EtcdAddress) {
    super({
      hosts: [...hosts],
      ...(auth && { auth }),
      ...(credentials && {
        // Without `ca` the roots of the system count, which the type does not know.
        credentials: {
          rootCertificate: credentials.ca as Buffer,
          ...(credentials.key && { privateKey: credentials.key }),
          ...(credentials.cert && { certChain: credentials.cert }),
        },
      }),
      faultHandling: hostChoice(hosts),
      defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + deadlineMs }),
      grpcOptions: {
        // A thousand entries may be more than the 4 MiB that gRPC takes by default.
        'grpc.max_receive_message_length': -1,
        // How a silent watch learns that the other end is gone. etcd answers pings every 5 s at most.
        'grpc.keepalive_time_ms': 10_000,
        'grpc.keepalive_timeout_ms': 3000,
        'grpc.initial_reconnect_backoff_ms': 250,
        'grpc.max_reconnect_backoff_ms': 1000,
        ...(serverName && { 'grpc.ssl_target_name_override': serverName }),
      },
    });
  }

  /** etcd3's own watcher stays silent after some cancellations (an expired token, compaction): not used. */
  async watchFrom(
    request: Parameters<EtcdCalls['watchFrom']>[0],
    onResponse: Parameters<EtcdCalls['watchFrom']>[1],
    onEnd: () => void,
  ): Promise<{ cancel(): void }> {
    const stream = await this.#watchStream();
    stream.on('error', onEnd);
    stream.on('end', onEnd);
    stream.on('data', onResponse);
    stream.write({ create_request: request });
    return stream;
  }

  #watchStream(): Promise<WatchStream> {
    return this.pool.withConnection('Watch', ({ resource, client, metadata }) => {
      const withLeader = metadata.clone();
      // Ends the stream when this member loses touch with the others, rather than showing the past.
      withLeader.set('hasleader', 'true');
      const { watch } = client as unknown as { watch(metadata: unknown): WatchStream };
      const stream = watch.call(client, withLeader);
      stream.on('error', (error) => this.pool.markFailed(resource, error));
      return stream;
    });
  }

  kvRange: EtcdCalls['kvRange'] = (request) => this.kv.range(request);

  kvTxn: EtcdCalls['kvTxn'] = (request) => this.kv.txn(request);

  async leaseGrant(seconds: number): Promise<string> {
    const { ID } = await this.leaseClient.leaseGrant({ TTL: seconds });
    return ID;
  }

  async leaseKeepAlive(id: string, withinMs: number): Promise<boolean> {
    const stream = await this.leaseClient.leaseKeepAlive({ deadline: Date.now() + withinMs });
    try {
      const { TTL } = await new Promise<ILeaseKeepAliveResponse>((resolve, reject) => {
        stream.on('data', resolve);
        stream.on('error', reject);
        stream.on('end', () => reject(new Error('etcd ended the keep-alive')));
        stream.write({ ID: id });
      });
      return Number(TTL) > 0;
    } finally {
      stream.end();
    }
  }

  async leaseRevoke(ID: string): Promise<void> {
    await this.leaseClient.leaseRevoke({ ID }).catch((error) => {
      if (!(error instanceof EtcdLeaseInvalidError)) throw error;
    });
  }
}
