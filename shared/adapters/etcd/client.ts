import {
  Etcd3,
  EtcdLeaseInvalidError,
  type IDuplexStream,
  type IKeyValue,
  type ILeaseKeepAliveResponse,
  type IRangeRequest,
  type IRangeResponse,
  type ITxnRequest,
  type ITxnResponse,
  type IWatchCreateRequest,
  type IWatchRequest,
  type IWatchResponse,
} from 'etcd3';
import type { Entry } from '../../ports/store.ts';
import { hostChoice } from './hosts.ts';
import type { EtcdAddress } from './url.ts';

/** Of one call: a put to a frozen member would hang. */
export const deadlineMs = 2000;

type WatchStream = IDuplexStream<IWatchRequest, IWatchResponse>;
export type WatchResponse = Pick<IWatchResponse, 'canceled' | 'events'>;

/** The calls of etcd's API that the store needs. Nothing is sent twice; numbers of 64 bits are text. */
export class EtcdClient extends Etcd3 {
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

  /**
   * etcd3's own watcher stays silent after some cancellations (an expired token, compaction): not used. `onEnd`: the
   * stream ended, whatever the reason. Rejects when the stream cannot be opened.
   */
  async watchFrom(
    request: IWatchCreateRequest,
    onResponse: (response: WatchResponse) => void,
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

  kvRange(request: IRangeRequest): Promise<IRangeResponse> {
    return this.kv.range(request);
  }

  kvTxn(request: ITxnRequest): Promise<ITxnResponse> {
    return this.kv.txn(request);
  }

  /** Returns the id of the new lease. */
  async leaseGrant(seconds: number): Promise<string> {
    const { ID } = await this.leaseClient.leaseGrant({ TTL: seconds });
    return ID;
  }

  /** False: the lease does not exist any more. */
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

  /** Succeeds as well when the lease does not exist. */
  async leaseRevoke(ID: string): Promise<void> {
    await this.leaseClient.leaseRevoke({ ID }).catch((error) => {
      if (!(error instanceof EtcdLeaseInvalidError)) throw error;
    });
  }
}

/** All keys that begin with it: up to the first that does not, which is the prefix with its last byte raised. */
export function rangeOf(prefix: string): { key: Buffer; range_end: Buffer } {
  // The zero byte stands for all there is.
  if (prefix === '') return { key: Buffer.of(0), range_end: Buffer.of(0) };
  const key = Buffer.from(prefix);
  const range_end = Buffer.from(key);
  const last = range_end.length - 1;
  // In UTF-8 no byte is 0xff.
  range_end[last] = (range_end[last] ?? 0) + 1;
  return { key, range_end };
}

export const toEntry = ({ key, value, mod_revision, create_revision }: IKeyValue): Entry => ({
  key: key.toString(),
  value: value.toString(),
  revision: Number(mod_revision),
  created: Number(create_revision),
});
