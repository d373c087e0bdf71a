import {
  ClientClosedError,
  EtcdAuthenticationFailedError,
  EtcdInvalidAuthTokenError,
  EtcdPermissionDeniedError,
  GRPCFailedPreconditionError,
  GRPCInvalidArgumentError,
  GRPCOutOfRangeError,
  GRPCUnauthenticatedError,
} from 'etcd3';
import { StoreError } from '../../ports/store.ts';

const authErrors = [
  EtcdAuthenticationFailedError,
  EtcdInvalidAuthTokenError,
  EtcdPermissionDeniedError,
  GRPCUnauthenticatedError,
];
const badRequests = [GRPCInvalidArgumentError, GRPCFailedPreconditionError, GRPCOutOfRangeError];
type ErrorClass = abstract new (...args: never[]) => Error;
const isOneOf = (error: unknown, classes: readonly ErrorClass[]) =>
  classes.some((type) => error instanceof type);

const isAuthError = (error: unknown) =>
  isOneOf(error, authErrors) || /user name is empty|auth is not enabled/.test((error as Error).message);

/** What gRPC and etcd say when the request did not get as far as the log of the cluster. */
const neverSent =
  /No connection established|failed a moment ago|Channel closed before call started|Name resolution failed|Waiting for LB pick|etcdserver: (too many requests|no leader)/;

export function errorCode(error: unknown, call: 'read' | 'commit'): StoreError['code'] {
  const { message } = error as Error;
  if (message.includes('database space exceeded')) return 'full';
  if (isAuthError(error) || isOneOf(error, badRequests)) return 'refused';
  if (error instanceof ClientClosedError || neverSent.test(message)) return 'unavailable';
  // Deadlines, lost connections, a failed leader: the write may have happened. Reads are safe to repeat.
  return call === 'commit' ? 'ambiguous' : 'unavailable';
}

export function storeError(code: StoreError['code'], error: unknown, failingForMs: number): StoreError {
  if (error instanceof ClientClosedError)
    return new StoreError(code, 'etcd: the store is closed', { cause: error });
  const detail = (error as Error).message.replace(/^Error: /, '');
  const seconds = Math.max(1, Math.round(failingForMs / 1000));
  const messages: Record<StoreError['code'], string> = {
    unavailable: `etcd: no answer or no quorum for ${seconds} s. Nothing is powered on or off until it is back. (${detail})`,
    ambiguous: `etcd: a write was not answered and may have happened; it is read again before anything is done. (${detail})`,
    full: 'etcd: its space quota is used up. Nothing is powered on or off until some is freed: etcdctl compact REVISION, etcdctl defrag, etcdctl alarm disarm.',
    refused: `etcd refused the request (${detail})${isAuthError(error) ? '. Check user and passwordFile in BAMEL_STORE, and that the role of the user may read and write /baremetal/' : ''}.`,
  };
  return new StoreError(code, messages[code], { cause: error });
}
