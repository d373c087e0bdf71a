import type {
  IKeyValue,
  IRangeRequest,
  IRangeResponse,
  ITxnRequest,
  ITxnResponse,
  IWatchCreateRequest,
  IWatchResponse,
} from 'etcd3';
import type { Entry } from '../ports.ts';

/** Of one call: a put to a frozen member would hang. */
export const deadlineMs = 2000;

export type WatchResponse = Pick<IWatchResponse, 'canceled' | 'events'>;
export type KeyValues = Pick<IRangeResponse, 'kvs' | 'more' | 'header'>;

/** What the store asks of etcd, named and typed as in its API; numbers of 64 bits are text. Nothing is sent twice. */
export interface EtcdCalls {
  kvRange(request: IRangeRequest): Promise<KeyValues>;
  kvTxn(request: ITxnRequest): Promise<Pick<ITxnResponse, 'succeeded' | 'header'>>;
  /** The id of a new lease. */
  leaseGrant(seconds: number): Promise<string>;
  /** False: there is no such lease any more. */
  leaseKeepAlive(id: string, withinMs: number): Promise<boolean>;
  /** Done as well when there is no such lease. */
  leaseRevoke(id: string): Promise<void>;
  /** `onEnd`: nothing more comes, whatever the reason. Rejected when it could not even begin. */
  watchFrom(
    request: IWatchCreateRequest,
    onResponse: (response: WatchResponse) => void,
    onEnd: () => void,
  ): Promise<{ cancel(): void }>;
  close(): void;
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
