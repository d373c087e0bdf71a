import { connect } from 'node:net';
import { fc } from '../../tools/support/seeded.ts';
import { eventHeaders, post, recorder, serving, structured } from './harness.ts';

const body = JSON.stringify({ machine: 'tower-1', dryRun: true });
const request = (headers: Record<string, string>, text: string, line = 'POST /recorder HTTP/1.1') =>
  [
    line,
    'Host: localhost',
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${text.length}`,
    '',
    text,
  ].join('\r\n');

const templates = [
  request({ 'Content-Type': 'application/json' }, body),
  request({ 'Content-Type': 'application/x-www-form-urlencoded' }, body),
  request({ 'Content-Type': 'application/json', ...eventHeaders() }, body),
  request(
    { 'Content-Type': 'application/cloudevents+json' },
    JSON.stringify(structured({ data: { machine: 'a' } })),
  ),
  request(
    { 'Content-Type': 'application/cloudevents-batch+json' },
    JSON.stringify([structured(), structured({ id: 'b' })]),
  ),
  request({ Expect: '100-continue', 'Content-Type': 'application/json' }, body),
  request({}, '', 'GET /health/readiness HTTP/1.1'),
  'POST /recorder HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
];

const mutation = fc.record({
  kind: fc.constantFrom('flip', 'delete', 'insert', 'repeat', 'cut'),
  // Evenly over the request; a double would be near its beginning nearly always.
  at: fc.noBias(fc.nat({ max: 999_999 })).map((millionths) => millionths / 1_000_000),
  bytes: fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 12 }),
  ),
});

const mutated = fc
  .tuple(fc.constantFrom(...templates), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([template, mutations]) => mutations.reduce(mutate, Buffer.from(template, 'latin1')));

function mutate(from: Buffer, { kind, at, bytes }: { kind: string; at: number; bytes: Uint8Array }): Buffer {
  const index = Math.floor(at * from.length);
  const head = from.subarray(0, index);
  const { length } = bytes;
  if (kind === 'cut') return head;
  if (kind === 'delete') return Buffer.concat([head, from.subarray(index + length)]);
  if (kind === 'insert') return Buffer.concat([head, bytes, from.subarray(index)]);
  if (kind === 'repeat') return Buffer.concat([from.subarray(0, index + length), from.subarray(index)]);
  return Buffer.concat([head, bytes, from.subarray(index + length)]);
}

/** All that the server says until it closes. What is damaged may be incomplete: the sender gives up in the end. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(100, () => socket.end());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // A reset is an answer as well: the server refused to read on.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

test('3,000 damaged requests: each is answered or refused, none with a 5xx, and the server stays well', async () => {
  const { served } = recorder();
  const statuses = new Map<string, number>();
  await serving([served], { timeouts: { headersMs: 500, bodyMs: 500 } }, async ({ url, port }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutated, { minLength: 60, maxLength: 60 }), async (requests) => {
        const answers = await Promise.all(requests.map((bytes) => exchange(port, bytes)));
        for (const answer of answers) {
          const status = /^(?:HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? 'closed';
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect(answer).not.toMatch(/HTTP\/1.1 5\d\d/);
        }
      }),
      { numRuns: 50 },
    );
    expect((await post(url, body)).status).toBe(200);
  });
  // It did get past the first checks: all these were reached.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining(['200', '204', '400', '404', '415']));
});

test('any JSON at all is answered, never with a 5xx', async () => {
  const { served } = recorder();
  await serving([served], {}, async ({ url }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 6 }),
        fc.constantFrom(
          'application/json',
          'application/cloudevents+json',
          'application/cloudevents-batch+json',
        ),
        async (json, contentType) => {
          const { status } = await post(url, json, { 'content-type': contentType });
          expect([200, 204, 400]).toContain(status);
        },
      ),
      { numRuns: 500 },
    );
  });
});

test('any attributes at all in an otherwise good event are answered, never with a 5xx', async () => {
  const { served } = recorder();
  await serving([served], {}, async ({ url }) => {
    const name = fc.constantFrom(
      'id',
      'source',
      'type',
      'specversion',
      'time',
      'subject',
      'dataschema',
      'datacontenttype',
      'data',
      'data_base64',
      'schemaurl',
      '__proto__',
      'constructor',
      'toString',
      'team',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, fc.jsonValue())), async (more) => {
        const event = JSON.stringify({ ...structured(), ...Object.fromEntries(more) });
        const { status } = await post(url, event, { 'content-type': 'application/cloudevents+json' });
        expect([204, 400]).toContain(status);
      }),
      { numRuns: 500 },
    );
  });
});
