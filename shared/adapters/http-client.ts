import type { ClientRequest, IncomingMessage } from 'node:http';

// The first event of a process waits for all of this, and what comes with Node.js for it (an iterator over the answer,
// a request's own `signal`) takes longer to set up than a small answer takes to arrive.

/** The whole answer. */
export function textOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => resolve(Buffer.concat(chunks).toString()));
  response.on('error', reject);
  // After its end this changes nothing.
  response.on('close', () => reject(new Error('the connection was closed during the answer')));
  return promise;
}

/** Ends the request, and with it the answer, when the signal is given. */
export function endOn(signal: AbortSignal, sending: ClientRequest): void {
  const end = (): void => void sending.destroy(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  sending.once('close', () => signal.removeEventListener('abort', end));
}
