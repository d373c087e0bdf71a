import type { Random } from './random.ts';
import { bytesOf, type Parts, soundRequest } from './templates.ts';

type Mutation = (parts: Parts, random: Random) => void;

/** Text that parsers stumble over. */
const oddTexts = [
  ...['', ' ', '\t', '\u0000', '%', '%00', '%ff%fe', '../../etc/passwd', '$(id)', '{{7*7}}', '<script>'],
  ...['__proto__', 'constructor', 'null', 'NaN', '1e999', '-0', '\u00ff\u00fe', 'é', 'x'.repeat(9_000)],
  ...['2026-13-40T99:99:99Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '[::1]', '::ffff:1'],
];

const setHeader = (parts: Parts, name: string, value: string): void => {
  parts.headers = [
    ...parts.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ];
};
const setBody = (parts: Parts, body: Buffer | string): void => {
  parts.body = typeof body === 'string' ? Buffer.from(body) : body;
  parts.length = String(parts.body.length);
};
const anyHeader = (parts: Parts, random: Random) => random.pick(parts.headers) ?? ['ce-id', ''];

const headerMutations: Readonly<Record<string, Mutation>> = {
  dropHeader: (parts, random) => {
    const [name] = anyHeader(parts, random);
    parts.headers = parts.headers.filter(([one]) => one !== name);
  },
  doubleHeader: (parts, random) => {
    const [name] = anyHeader(parts, random);
    parts.headers = [...parts.headers, [name, random.pick(oddTexts)]];
  },
  garbleHeader: (parts, random) => setHeader(parts, anyHeader(parts, random)[0], random.pick(oddTexts)),
  contentType: (parts, random) =>
    setHeader(
      parts,
      'Content-Type',
      random.pick([
        ...['text/plain', 'application/json; charset=utf-16', 'application/cloudevents+json; charset="x"'],
        ...['application/cloudevents-batch+json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
        ...['application/xml', ';;;', 'application/JSON', 'a'.repeat(2_000), 'application/vnd.x+json'],
      ]),
    ),
  attribute: (parts, random) =>
    setHeader(
      parts,
      `ce-${random.pick(['id', 'source', 'type', 'specversion', 'time', 'subject', 'data', 'x', '__proto__'])}`,
      random.pick(oddTexts),
    ),
  encoding: (parts, random) =>
    setHeader(parts, 'Content-Encoding', random.pick(['gzip', 'deflate', 'br', 'identity', 'x', ''])),
  transfer: (parts, random) =>
    setHeader(parts, 'Transfer-Encoding', random.pick(['chunked', 'gzip, chunked', 'chunked, chunked', 'x'])),
  expect: (parts, random) => setHeader(parts, 'Expect', random.pick(['100-continue', '100-CONTINUE', 'x'])),
  host: (parts, random) =>
    setHeader(parts, 'Host', random.pick(['evil.example', '', 'localhost:x', '[', ' '])),
  origin: (parts, random) => setHeader(parts, 'Origin', random.pick(['null', 'https://evil.example', ''])),
  authorization: (parts, random) =>
    setHeader(
      parts,
      'Authorization',
      random.pick(['Bearer', 'Bearer x', 'Basic eDp5', 'bearer  ', ...oddTexts]),
    ),
  conditional: (parts, random) =>
    setHeader(parts, 'If-None-Match', random.pick(['*', '"0-0-"', ...oddTexts])),
  upgrade: (parts) => {
    setHeader(parts, 'Connection', 'Upgrade');
    setHeader(parts, 'Upgrade', 'websocket');
  },
};

const lineMutations: Readonly<Record<string, Mutation>> = {
  method: (parts, random) => {
    parts.method = random.pick([
      'GET',
      'PUT',
      'DELETE',
      'HEAD',
      'OPTIONS',
      'PATCH',
      'TRACE',
      'post',
      'X',
      'M-SEARCH',
    ]);
  },
  path: (parts, random) => {
    parts.path = random.pick([
      `${parts.path}/${random.pick(oddTexts)}`,
      `${parts.path}?${random.pick(oddTexts)}=${random.pick(oddTexts)}`,
      parts.path.toUpperCase(),
      `/${parts.path}`,
      `${parts.path}/../metrics`,
      `http://evil.example${parts.path}`,
      '*',
      random.pick(oddTexts),
    ]);
  },
  length: (parts, random) => {
    const { length } = parts.body;
    parts.length = random.pick([
      ...[length - 1, length + 1, 0, -1, 2 ** 31, 2 ** 53, Number.NaN].map(String),
      ...[`+${length}`, `${length}, ${length}`, `0x${length.toString(16)}`, '1e3', ''],
    ]);
  },
};

const deep = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels);
const numbers = [
  '1e999',
  `-${'9'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
  '1e-999',
  '00',
  '+1',
  '.5',
  'Infinity',
];

export const bodyMutations: Readonly<Record<string, Mutation>> = {
  truncated: (parts, random) => setBody(parts, parts.body.subarray(0, random.below(parts.body.length + 1))),
  doubled: (parts) => setBody(parts, Buffer.concat([parts.body, parts.body])),
  nested: (parts, random) =>
    setBody(
      parts,
      // Seldom the deepest: one of them is as large as a hundred others.
      random.pick([
        deep('[', ']', 500),
        deep('{"a":', '}', random.chance(0.1) ? 100_000 : 1_000),
        deep('[', '', 900),
      ]),
    ),
  number: (parts, random) =>
    setBody(
      parts,
      parts.body.toString().replace(/"[^"]*"(?=[,}\]])|true|false|\d+/, () => random.pick(numbers)),
    ),
  wrongType: (parts, random) =>
    setBody(
      parts,
      parts.body
        .toString()
        .replace(/:\s*("[^"]*"|true|false|\d+)/, () => `:${random.pick(['[]', '{}', 'null', '7'])}`),
    ),
  odd: (parts, random) =>
    setBody(
      parts,
      parts.body.toString().replace(/"[^"]*"/, () => JSON.stringify(random.pick(oddTexts))),
    ),
  key: (parts, random) =>
    setBody(
      parts,
      parts.body
        .toString()
        .replace('{', `{${JSON.stringify(random.pick(oddTexts))}:${random.pick(['1', '{}', '""'])},`),
    ),
  badUtf8: (parts, random) => {
    const at = random.below(parts.body.length + 1);
    const odd = random.pick([
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
    ]);
    setBody(parts, Buffer.concat([parts.body.subarray(0, at), Buffer.from(odd), parts.body.subarray(at)]));
  },
  marked: (parts) => setBody(parts, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), parts.body])),
  rubbish: (parts, random) => setBody(parts, random.bytes(random.below(200))),
  large: (parts, random) =>
    setBody(parts, JSON.stringify({ machine: 'x'.repeat(1_000 * (1 + random.below(30))) })),
  many: (parts, random) => setBody(parts, `[${'{},'.repeat(random.below(3_000))}{}]`),
};

/** On the finished bytes: what a broken wire does. */
function brokenWire(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length);
  const head = bytes.subarray(0, at);
  const some = random.bytes(1 + random.below(12));
  return random.pick([
    head,
    Buffer.concat([head, some, bytes.subarray(at)]),
    Buffer.concat([head, some, bytes.subarray(at + some.length)]),
    Buffer.concat([head, bytes.subarray(at + some.length)]),
    Buffer.concat([bytes, bytes.subarray(at)]),
  ]);
}

const mutations: readonly Mutation[] = [
  ...Object.values(headerMutations),
  ...Object.values(lineMutations),
  ...Object.values(bodyMutations),
  ...Object.values(bodyMutations),
];

/** A request with up to three things wrong with it; now and then with none. */
export function damagedRequest(random: Random, headers: Parts['headers']): Buffer {
  const parts = soundRequest(random);
  parts.headers = [...headers, ...parts.headers];
  for (let left = random.chance(0.05) ? 0 : 1 + random.below(3); left > 0; left -= 1)
    random.pick(mutations)(parts, random);
  const bytes = bytesOf(parts);
  return random.chance(0.15) ? brokenWire(bytes, random) : bytes;
}
