import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Answer, redfishError } from './answer.ts';
import type { SimulatedMachine } from './machine.ts';
import { redfish, type Service } from './redfish.ts';
import { paths, root } from './resources.ts';
import { Sessions, unauthorized } from './sessions.ts';
import { Tasks } from './tasks.ts';

export interface BmcOptions {
  /** 0: any free one. */
  port?: number;
  tls?: { key: string; cert: string };
  sessionLimit?: number;
}

export interface Bmc {
  machine: SimulatedMachine;
  url: string;
  /** Cuts what is under way, hung answers included. */
  close(): Promise<void>;
}

const bodyLimit = 64 * 1024;
const open = ['/redfish', root];

/** The management controller of one machine: Redfish on its own loopback port. */
export async function startBmc(machine: SimulatedMachine, options: BmcOptions = {}): Promise<Bmc> {
  const service: Service = {
    machine,
    sessions: new Sessions(machine, options.sessionLimit ?? 8),
    tasks: new Tasks(machine),
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    handle(service, request, response).catch((error: unknown) => response.destroy(error as Error));
  };
  const server = options.tls ? https.createServer(options.tls, listener) : http.createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    machine,
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { faults } = service.machine;
  for (const { effect, used } of faults.having('request')) {
    used();
    const outcome = await effect(request);
    if (outcome === 'silence') return;
    if (outcome !== 'go on') return deliver(service.machine, response, outcome);
  }
  const answer = await answerTo(service, request);
  if (!response.destroyed) deliver(service.machine, response, answer);
}

async function answerTo(service: Service, request: IncomingMessage): Promise<Answer> {
  const method = request.method ?? 'GET';
  const path = (request.url ?? '/').replace(/\?.*$/, '').replace(/(.)\/+$/, '$1');
  const body = await read(request);
  if (body === 'too long') return redfishError(413, 'GeneralError', 'The body is too long.');
  if (body === 'not JSON') return redfishError(400, 'MalformedJSON', 'The body is not JSON.');
  if (method === 'POST' && path === paths.sessions) return service.sessions.open(body.json);
  const mayPass = (method === 'GET' && open.includes(path)) || service.sessions.allows(request);
  if (!mayPass) return unauthorized();
  return redfish(service, { method, path, ifMatch: request.headers['if-match'], body: body.json });
}

function deliver(machine: SimulatedMachine, response: ServerResponse, answer: Answer): void {
  const text = answer.body ? JSON.stringify(answer.body) : '';
  const headers = {
    'OData-Version': '4.0',
    ...(text && { 'Content-Type': 'application/json' }),
    ...answer.headers,
  };
  const special = machine.faults.having('deliver')[0];
  if (!special) {
    response.writeHead(answer.status, headers).end(text);
    return;
  }
  special.used();
  special.effect(response, { ...answer, headers }, text);
}

async function read(request: IncomingMessage): Promise<{ json: unknown } | 'too long' | 'not JSON'> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > bodyLimit) return 'too long';
  }
  if (!text) return { json: undefined };
  try {
    return { json: JSON.parse(text) };
  } catch {
    return 'not JSON';
  }
}
