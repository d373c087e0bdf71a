import { fc } from '../../tools/support/seeded.ts';
import { eventHeaders, post, rawExchange, recorder, serving, structured } from './harness.ts';

const mebibyte = 2 ** 20;

describe('fault 33: malformed or deeply nested JSON → 400, no state changed', () => {
  const modes: [string, Record<string, string>][] = [
    ['plain', {}],
    ['binary', eventHeaders()],
    ['structured', { 'content-type': 'application/cloudevents+json' }],
    ['batch', { 'content-type': 'application/cloudevents-batch+json' }],
  ];

  test.each(modes)('%s: malformed', async (_mode, headers) => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.json(),
          fc.nat(),
          fc.constantFrom('}', '{', '"', ',', '\\', 'x', '\u0000'),
          async (json, at, noise) => {
            const cut = at % (json.length + 1);
            const text = json.slice(0, cut) + noise + json.slice(cut);
            fc.pre(!isJson(text));
            const answer = await post(url, text, headers);
            expect(answer.status).toBe(400);
            expect(await answer.json()).toMatchObject({
              error: expect.stringContaining('malformed JSON at position'),
            });
          },
        ),
        { numRuns: 150 },
      );
    });
    expect(calls).toEqual([]);
  });

  test.each(modes)('%s: nested deeper than 64 levels, however deep', async (_mode, headers) => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      for (const depth of [65, 1_000, 500_000])
        for (const text of ['['.repeat(depth), '[{"a":'.repeat(depth / 2 + 1)]) {
          const answer = await post(url, text, headers);
          expect([answer.status, await answer.json()]).toMatchObject([
            400,
            { error: 'JSON is nested deeper than 64 levels' },
          ]);
        }
    });
    expect(calls).toEqual([]);
  });

  test('64 levels are not too deep, and brackets in a string are not levels', async () => {
    const { served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const deep = await post(url, '['.repeat(64) + ']'.repeat(64));
      expect(await deep.json()).toMatchObject({ error: 'expected object, received array' });
      const text = await post(url, JSON.stringify({ machine: `\\"${'['.repeat(1_000)}` }));
      expect(text.status).toBe(200);
    });
  });

  test('invalid UTF-8', async () => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      for (const [, headers] of modes) {
        const answer = await post(url, Uint8Array.of(0x22, 0xc3, 0x28, 0x22), headers);
        expect([answer.status, await answer.json()]).toEqual([400, { error: 'the body is not valid UTF-8' }]);
      }
    });
    expect(calls).toEqual([]);
  });
});

describe('fault 34: oversized body → 413 before parsing', () => {
  const tooLarge = { error: `the body is larger than ${2 * mebibyte} bytes`, limitBytes: 2 * mebibyte };
  const head = (headers: string) => `POST /recorder HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

  test('announced by Content-Length: answered without the body', async () => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ port }) => {
      const answer = await rawExchange(port, head('Content-Length: 99999999\r\nExpect: 100-continue'));
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
      expect(answer).not.toContain('100 Continue');
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual(tooLarge);
    });
    expect(calls).toEqual([]);
  });

  test('sent all the same: 30 MB written without pause, and the sender sees the answer', async () => {
    const { calls, served } = recorder();
    const zeros = new Uint8Array(30_000_000);
    await serving([served], {}, async ({ port }) => {
      const announced = await rawExchange(port, head(`Content-Length: ${zeros.length}`), zeros);
      expect(announced).toMatch(/^HTTP\/1.1 413 /);
      const chunk = `${zeros.length.toString(16)}\r\n`;
      const chunked = await rawExchange(
        port,
        head('Transfer-Encoding: chunked'),
        chunk,
        zeros,
        '\r\n0\r\n\r\n',
      );
      expect(chunked).toMatch(/^HTTP\/1.1 413 /);
      expect(JSON.parse(chunked.split('\r\n\r\n')[1] ?? '')).toEqual(tooLarge);
    });
    expect(calls).toEqual([]);
  });

  test('the limit is exact, and what is too large is not even looked at', async () => {
    const { calls, served } = recorder();
    const ofSize = (size: number) => `{"machine":"${'a'.repeat(size - 14)}"}`;
    await serving([served], { bodyLimit: 1_000 }, async ({ url }) => {
      expect((await post(url, ofSize(1_000))).status).toBe(200);
      expect((await post(url, ofSize(1_001))).status).toBe(413);
      expect((await post(url, '{'.repeat(1_001))).status).toBe(413);
    });
    expect(calls).toHaveLength(1);
  });
});

describe('a sender that is slow', () => {
  const timeouts = { headersMs: 200, bodyMs: 200 };

  test('with its body → 408, and the connection is closed', async () => {
    const { calls, served } = recorder();
    await serving([served], { timeouts }, async ({ port }) => {
      const answer = await rawExchange(
        port,
        'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"dry',
      );
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toContain('the body did not arrive within 0.2 s');
    });
    expect(calls).toEqual([]);
  });

  test('with its headers, or silent: the connection is closed', async () => {
    await serving([recorder().served], { timeouts }, async ({ port }) => {
      expect(await rawExchange(port, 'POST / HTTP/1.1\r\nHost: loc')).toMatch(/^(HTTP\/1.1 408 |$)/);
      expect(await rawExchange(port)).toMatch(/^(HTTP\/1.1 408 |$)/);
    });
  });

  test('does not keep others waiting', async () => {
    const { served } = recorder();
    await serving([served], { timeouts: { headersMs: 1_000 } }, async ({ url, port }) => {
      const slow = Array.from({ length: 50 }, () => rawExchange(port, 'POST / HTTP/1.1\r\nHost: l\r\nX: '));
      expect((await post(url, '{}')).status).toBe(200);
      await Promise.all(slow);
    });
  });
});

test('a batch of too many events → 400', async () => {
  const { calls, served } = recorder();
  await serving([served], {}, async ({ url }) => {
    const body = JSON.stringify(Array(1_001).fill(structured()));
    expect((await post(url, body, { 'content-type': 'application/cloudevents-batch+json' })).status).toBe(
      400,
    );
  });
  expect(calls).toEqual([]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
