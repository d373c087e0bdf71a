import {
  Etcd3,
  type IDuplexStream,
  type IKeyValue,
  type IWatchRequest,
  type IWatchResponse,
  Range,
} from 'etcd3';
import type { Entry } from '../ports.ts';
import { hostChoice } from './store-etcd-hosts.ts';
import type { EtcdAddress } from './store-etcd-url.ts';

/** Of one call. etcd3 has none of its own: a put to a frozen member would hang. */
export const deadlineMs = 2000;

export type WatchStream = IDuplexStream<IWatchRequest, IWatchResponse>;

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

  /** etcd3's own watcher stays silent after some cancellations (an expired token, compaction): not used. */
  watchStream(): Promise<WatchStream> {
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
}

export function rangeOf(prefix: string): { key: Buffer; range_end: Buffer } {
  const { start, end } = Range.prefix(prefix);
  return { key: start, range_end: end };
}

export const toEntry = ({ key, value, mod_revision, create_revision }: IKeyValue): Entry => ({
  key: key.toString(),
  value: value.toString(),
  revision: Number(mod_revision),
  created: Number(create_revision),
});
