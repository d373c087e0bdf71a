import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-response.ts';

export interface BodyLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

/** The sender closed the connection: no response is possible. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** Reads the whole body, never more than the limit. `begin` sends 100 Continue. */
export async function readBody(
  request: IncomingMessage,
  { bytes, timeoutMs }: BodyLimits,
  begin: () => void,
): Promise<Buffer> {
  const tooLarge = new HttpError(413, `the body is larger than ${bytes} bytes`, { limitBytes: bytes });
  if (Number(request.headers['content-length'] ?? 0) > bytes) throw tooLarge;
  begin();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > bytes) reject(tooLarge);
    else chunks.push(chunk);
  };
  const onEnd = () => resolve(Buffer.concat(chunks));
  const onClose = () => reject(new RequestAborted('the sender closed the connection'));
  const timer = setTimeout(
    () => reject(new HttpError(408, `the body did not arrive within ${timeoutMs / 1_000} s`)),
    timeoutMs,
  );
  request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
  }
}

const drainLimits = { bytes: 64 * 2 ** 20, ms: 5_000, silenceMs: 500 };

/**
 * Reads and discards the rest of the body, up to a limit. Closing a connection while the sender writes resets
 * it, and the response is lost.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = drainLimits.bytes;
  const timer = setTimeout(resolve, drainLimits.ms);
  const silence = setTimeout(resolve, drainLimits.silenceMs);
  request.on('data', (chunk: Buffer) => {
    silence.refresh();
    left -= chunk.length;
    if (left < 0) resolve();
  });
  for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
  request.resume();
  await promise;
  clearTimeout(timer);
  clearTimeout(silence);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
