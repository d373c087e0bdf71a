import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { MachineSpec } from '../../shared/core/machine.ts';
import { type Credentials, type DriverDeps, PowerError } from '../../shared/ports.ts';

export const credentials: Credentials = { username: 'operator', password: 'canary-9f3c' };

/** Whatever a password may look like on its way out. */
const secrets = [
  credentials.password,
  Buffer.from(credentials.password).toString('base64'),
  Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
];

export const deps: DriverDeps = { credentials: async () => credentials };

export function machineSpec(mgmtAddress: string, more: Partial<MachineSpec> = {}): MachineSpec {
  return {
    name: 'mini-1',
    pool: 'closet',
    powerInterface: 'redfish',
    mgmtAddress,
    bmcCredentials: 'mini-1-bmc',
    resources: {},
    ...more,
  };
}

/** A signal that only a broken test would let run out. */
export const patient = (): AbortSignal => AbortSignal.timeout(20_000);

/** The PowerError that this ends with; no error whatsoever may show the password, however deep one looks. */
export async function failing(work: () => Promise<unknown>): Promise<PowerError> {
  try {
    await work();
  } catch (error) {
    const everything = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true });
    for (const secret of secrets) expect(everything).not.toContain(secret);
    if (error instanceof PowerError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

export interface ScriptedBmc {
  readonly url: string;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export type Answers = Record<
  string,
  { status?: number; headers?: Record<string, string>; body?: object | string }
>;

/** A BMC that says what the test makes it say, by method and path; 404 to everything else. */
export async function startScripted(answers: Answers): Promise<ScriptedBmc> {
  const requests: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const asked = `${request.method} ${request.url}`;
    requests.push(asked);
    const { status = 200, headers, body = '' } = answers[asked] ?? { status: 404 };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
