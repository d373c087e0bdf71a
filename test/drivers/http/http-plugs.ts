import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * Switches as their makers' published APIs have them. There is no simulator of any of these to be had, so these are
 * our reading of the documents, and no more than that.
 */

export interface Plug extends AsyncDisposable {
  readonly url: string;
  power: 'on' | 'off';
  /** What it was told, taken or not: method, path and body. */
  readonly requests: string[];
  commands: number;
  fault: 'silent' | 'locked' | 'broken' | 'in-between' | undefined;
  close(): Promise<void>;
}

interface Told {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

export const login = { username: 'admin', password: 'canary-9f3c' };
export const token = 'canary-token-9f3c';

type Kind = (told: Told, plug: Plug, secured: boolean) => Answer;

const basic = ({ headers }: Told): boolean =>
  headers.authorization === `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const nonce = '60dc2727';

/** RFC 7616 as the device reckons it, from what it was sent. */
function digest({ headers, method, url }: Told): boolean {
  const sent = (name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(headers.authorization ?? '')?.[1];
  const who = sha256(`${login.username}:shellyplugs-1:${login.password}`);
  const what = sha256(`${method}:${url.pathname}${url.search}`);
  const expected = sha256([who, nonce, sent('nc'), sent('cnonce'), 'auth', what].join(':'));
  return sent('nonce') === nonce && sent('response') === expected;
}

const locked: Answer = { status: 401, body: 'Unauthorized' };

function switchTo(plug: Plug, power: 'on' | 'off'): void {
  plug.commands += 1;
  if (plug.fault !== 'broken') plug.power = power;
}

const kinds = {
  shelly(told, plug, secured) {
    const challenge = `Digest qop="auth", realm="shellyplugs-1", nonce="${nonce}", algorithm=SHA-256`;
    if (plug.fault === 'locked' || (secured && !digest(told)))
      return { status: 401, headers: { 'www-authenticate': challenge } };
    const { pathname, searchParams } = told.url;
    if (searchParams.get('id') !== '0') return { status: 500, body: { code: -105, message: 'Argument id' } };
    const was_on = plug.power === 'on';
    if (pathname === '/rpc/Switch.Set') {
      switchTo(plug, searchParams.get('on') === 'true' ? 'on' : 'off');
      return { body: { was_on } };
    }
    if (pathname !== '/rpc/Switch.GetStatus') return { status: 404 };
    const output = plug.fault === 'in-between' ? null : was_on;
    return { body: { id: 0, source: 'HTTP', output, apower: 8.9, voltage: 237.5 } };
  },
  'shelly-gen1'(told, plug, secured) {
    if (plug.fault === 'locked' || (secured && !basic(told))) return locked;
    if (told.url.pathname !== '/relay/0') return { status: 404 };
    const turn = told.url.searchParams.get('turn');
    if (turn === 'on' || turn === 'off') switchTo(plug, turn);
    if (turn && plug.fault === 'broken') return { body: { ison: turn !== 'on' } };
    return {
      body: { ison: plug.fault === 'in-between' ? undefined : plug.power === 'on', has_timer: false },
    };
  },
  tasmota(told, plug, secured) {
    if (plug.fault === 'locked' || (secured && !basic(told)))
      return { status: 401, body: { WARNING: 'Need user=<username>&password=<password>' } };
    const command = /^Power1?( (On|Off))?$/i.exec(told.url.searchParams.get('cmnd') ?? '');
    if (told.url.pathname !== '/cm' || !command) return { body: { Command: 'Unknown' } };
    if (command[2]) switchTo(plug, command[2].toLowerCase() as 'on' | 'off');
    if (plug.fault === 'in-between' || (command[2] && plug.fault === 'broken')) return { body: {} };
    return { body: { POWER: plug.power.toUpperCase() } };
  },
  'home-assistant'(told, plug) {
    if (plug.fault === 'locked' || told.headers.authorization !== `Bearer ${token}`) return locked;
    const service = /^\/api\/services\/homeassistant\/turn_(on|off)$/.exec(told.url.pathname)?.[1];
    if (service && told.method === 'POST') {
      const { entity_id } = JSON.parse(told.body) as { entity_id?: string };
      if (entity_id === 'switch.plug_3') switchTo(plug, service as 'on' | 'off');
      return { body: [] };
    }
    if (told.url.pathname !== '/api/states/switch.plug_3') return { status: 404 };
    const state = plug.fault === 'in-between' ? 'unavailable' : plug.power;
    return { body: { entity_id: 'switch.plug_3', state, attributes: {} } };
  },
} satisfies Record<string, Kind>;

export type PlugKind = keyof typeof kinds;

export async function startPlug(kind: PlugKind, { secured = false } = {}): Promise<Plug> {
  const requests: string[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = '', headers } = request;
    requests.push([method, request.url, body].filter(Boolean).join(' '));
    if (plug.fault === 'silent') return;
    const told = { method, headers, body, url: new URL(request.url ?? '', 'http://plug') };
    const { status = 200, headers: more, body: answer = '' } = (kinds[kind] as Kind)(told, plug, secured);
    response.writeHead(status, { 'content-type': 'application/json', ...more });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  const plug: Plug = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    power: 'off',
    requests,
    commands: 0,
    fault: undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
  return plug;
}
