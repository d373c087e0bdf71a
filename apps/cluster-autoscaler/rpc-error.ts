import { status } from '@grpc/grpc-js';
import { StoreError } from '../../shared/ports/store.ts';

/** An answer that is an error, with its gRPC code. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: status;
  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error for the caller; undefined: a bug, which is only logged. */
export function toRpcError(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error;
  if (error instanceof StoreError) return new RpcError(status.UNAVAILABLE, `the store: ${error.message}`);
  return undefined;
}
