import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import { type DriverDeps, type PowerDriver, PowerError } from '../../shared/ports/power.ts';
import { realClock } from '../../shared/process/clock.ts';

export const credentials = { username: 'operator', password: 'canary-9f3c' };

/** Whatever a password may look like on its way out. */
const secrets = [
  credentials.password,
  Buffer.from(credentials.password).toString('base64'),
  Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
];

const noJobs = () => Promise.reject(new Error('no Jobs in this test'));

export const deps: DriverDeps = {
  credentials: async () => credentials,
  resolve: async (host) => host,
  nodeOf: async () => undefined,
  jobs: { ensure: noJobs, read: noJobs, latest: noJobs },
  clock: realClock,
};

/** With the driver's name and options as the spec has them, as everybody gets it. */
export const driverOf = (spec: MachineSpec, more: Partial<DriverDeps> = {}): Promise<PowerDriver> =>
  // With a way to connect of its own: what one driver remembers of a port is nothing to the next.
  driverFor(spec, { ...deps, resolve: async (host) => host, ...more });

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

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * A BMC that says what the test makes it say, by method and path; 404 to everything else. `before` may look at a
 * request, and change the answers, before it is answered.
 */
export async function startScripted(
  given: Answers,
  before: (request: ScriptedRequest, answers: Answers) => void = () => undefined,
): Promise<ScriptedBmc> {
  const answers = { ...given };
  const requests: string[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers: sent } = request;
    before({ method, path, headers: sent, body: await text(request) }, answers);
    const asked = `${method} ${path}`;
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
