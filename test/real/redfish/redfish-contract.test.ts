import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { basicAuth } from '../../../shared/http/address.ts';
import { makeAuthority } from '../../../tools/real-stack/certificates.ts';
import { type Sushy, startSushy, sushySystem } from '../../../tools/real-stack/sushy.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { findProgram } from '../../../tools/support/programs.ts';
import { driverContract } from '../../drivers/contract.ts';
import { credentials, machineSpec } from '../../drivers/harness.ts';
import { newFolder } from '../../support/cleanup.ts';

const uuid = '44444444-4444-4444-8444-444444444444';
const system = sushySystem(uuid);
const programs = ['python3', 'openssl'];
const patienceMs = 40_000;

const folder = newFolder();
let ca: Buffer;
let sushy: Sushy;
const runs = programs.every((program) => findProgram(program)) || process.env.BAMEL_REQUIRE_PROGRAMS;
if (runs) {
  beforeAll(async () => {
    const authority = makeAuthority(folder);
    ca = readFileSync(authority.cert);
    sushy = await startSushy({ authority, credentials, systems: [uuid] });
  });
  afterAll(async () => {
    await sushy?.close();
  });
}

const authorization = basicAuth(credentials);
const ask = async (
  method: string,
  path: string,
  headers: object,
  body?: IncomingMessage | string,
): Promise<IncomingMessage> => {
  const sent = httpsRequest(`${sushy.url}${path}`, { method, ca, headers: { ...headers } });
  if (typeof body === 'object') body.pipe(sent);
  else sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
};
const powers: Readonly<Record<string, 'on' | 'off'>> = { On: 'on', Off: 'off' };
async function power(): Promise<'on' | 'off' | 'unknown'> {
  const { PowerState } = (await json(await ask('GET', system, { authorization }))) as { PowerState: string };
  return powers[PowerState] ?? 'unknown';
}
async function become(wanted: 'on' | 'off'): Promise<void> {
  if ((await power()) === wanted) return;
  const body = JSON.stringify({ ResetType: wanted === 'on' ? 'On' : 'ForceOff' });
  const headers = { authorization, 'content-type': 'application/json', 'content-length': body.length };
  (await ask('POST', `${system}/Actions/ComputerSystem.Reset`, headers, body)).resume();
  await waitFor(`sushy is ${wanted}`, async () => (await power()) === wanted || undefined, { everyMs: 300 });
}

driverContract({
  name: 'redfish on sushy-emulator',
  programs,
  patienceMs,
  shortMs: 1000,
  capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
  wrongOptions: { auth: { auth: 'none' } },
  // Its power is on until it is off, and off until it is on.
  lacks: ['inBetween'],
  async start() {
    await become('off');
    let commands = 0;
    let silent = false;
    let refusing = false;
    // In between, to count what is sent and to break what the emulator does not.
    const proxy = createServer(async (request: IncomingMessage, response: ServerResponse) => {
      const { method = '', url = '', headers } = request;
      if (method === 'POST') commands += 1;
      if (silent) return;
      const answer = await ask(
        method,
        url,
        refusing ? { ...headers, authorization: basicAuth({ ...credentials, password: 'guess' }) } : headers,
        request,
      );
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const close = async () => {
      if (!proxy.listening) return;
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    };
    return {
      spec: machineSpec(address),
      power,
      become,
      commands: () => commands,
      silence() {
        silent = true;
      },
      refuseCredentials() {
        refusing = true;
      },
      mend() {
        silent = false;
        refusing = false;
      },
      vanish: close,
      close,
    };
  },
});
