import { functionTable } from '../../functions/index.ts';
import { events, foreignEvents } from '../../shared/ports/event-types.ts';
import { rows } from '../../shared/view/rows.ts';
import type { Random } from './random.ts';

/** A request before it is damaged. */
export interface Parts {
  method: string;
  path: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** Written as Content-Length; undefined: none. */
  length: string | undefined;
}

/** A machine that is there, which nobody may be asked to power, and one that is not. */
const machines = ['mini-1', 'nobody', '', 'a/b', 'x'.repeat(300)];

const inputs = (random: Random): object[] => [
  {},
  { dryRun: true },
  { machine: random.pick(machines) },
  { machine: 'nobody', power: random.pick(['on', 'off', 'toggle']) },
  { machine: 'nobody', power: 'off', force: true, by: 'a person' },
  { replay: random.pick<unknown>(['all', ['dead-1'], [], 7]) },
  {
    version: '4',
    status: random.pick(['firing', 'resolved']),
    receiver: 'bamel',
    alerts: [{ status: 'firing', labels: { alertname: 'Busy' }, startsAt: '2026-11-16T00:00:00Z' }],
  },
];

const types = [
  ...Object.values(events),
  foreignEvents.ping,
  'dev.knative.apiserver.resource.update',
  'com.example.other',
];

const attributes = (random: Random): Record<string, string> => ({
  specversion: '1.0',
  id: `fuzz-${random.below(1_000_000)}`,
  source: random.pick(['/fuzz', 'urn:x', 'https://example.com/a?b']),
  type: random.pick(types),
  ...(random.chance(0.5) && { subject: random.pick(machines) || 'everything' }),
  ...(random.chance(0.3) && { time: random.pick([new Date().toISOString(), '1999-12-31T23:59:59Z']) }),
});

const paths = [
  '/',
  '/metrics',
  '/openapi.json',
  '/health/liveness',
  '/boot/52:54:00:12:34:56',
  '/api/stream',
  '/discovery/offers',
];
const apiPaths = rows.map(({ path }) => path.replace('{name}', 'mini-1'));

/** What other clusters send. */
const fromPeers: readonly [method: string, path: string, json: object][] = [
  ['POST', '/discovery/peering/nonce', { clusterID: 'south' }],
  [
    'POST',
    '/discovery/peering',
    { clusterID: 'south', publicKey: `${'A'.repeat(43)}=`, csr: 'Y3Ny', signature: 'c2ln' },
  ],
  [
    'PUT',
    '/discovery/offers',
    { payload: 'e30', publicKey: `${'A'.repeat(43)}=`, signature: 'A'.repeat(86) },
  ],
];

const post = (path: string, headers: Parts['headers'], json: unknown): Parts => {
  const body = Buffer.from(JSON.stringify(json));
  return { method: 'POST', path, headers, body, length: String(body.length) };
};

/** A request as a well-behaved sender would make it: each function in each mode, and everything that is read. */
export function soundRequest(random: Random): Parts {
  if (random.chance(0.2)) {
    const query = random.pick(['', '?limit=10', '?after=2&limit=1', '?limit=-1', '?x']);
    const path = random.pick([...paths, ...apiPaths]) + query;
    return { method: 'GET', path, headers: [], body: Buffer.alloc(0), length: undefined };
  }
  if (random.chance(0.1)) {
    const [method, path, json] = random.pick(fromPeers);
    return { ...post(path, [['Content-Type', 'application/json']], json), method };
  }
  const path = `/${random.pick(functionTable).definition.name}`;
  const data = random.pick(inputs(random));
  const mode = random.below(4);
  if (mode === 0) return post(path, [['Content-Type', 'application/json']], data);
  const event = attributes(random);
  if (mode === 1) {
    const ours = Object.entries(event).map(([name, value]): [string, string] => [`ce-${name}`, value]);
    return post(path, [['Content-Type', 'application/json'], ...ours], data);
  }
  const whole = { ...event, datacontenttype: 'application/json', data };
  if (mode === 2) return post(path, [['Content-Type', 'application/cloudevents+json']], whole);
  const batch = Array.from({ length: random.below(4) }, () => ({ ...whole, ...attributes(random) }));
  return post(path, [['Content-Type', 'application/cloudevents-batch+json']], batch);
}

/** The bytes on the wire. */
export function bytesOf({ method, path, headers, body, length }: Parts): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]);
}
