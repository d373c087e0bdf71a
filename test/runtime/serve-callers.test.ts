import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tokenFromFile } from '../../shared/server/authenticate.ts';
import { newFolder } from '../support/cleanup.ts';
import { eventHeaders, post, rawExchange, recorder, serving } from './harness.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('fault 39: no or wrong credentials → 401', () => {
  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['wrong', bearer('wrong')],
    ['empty', { authorization: 'Bearer ' }],
    ['a prefix', bearer('righ')],
    ['another scheme', { authorization: `Basic ${btoa('right:')}` }],
  ])('%s', async (_name, headers) => {
    const { calls, served } = recorder();
    await serving([served], { token: async () => 'right' }, async ({ url }) => {
      for (const more of [{}, eventHeaders()]) {
        const answer = await post(url, '{}', { ...headers, ...more });
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
          401,
          'Bearer realm="bamel"',
        ]);
      }
      expect((await fetch(`${url}/metrics`, { headers })).status).toBe(401);
      expect((await fetch(`${url}/nothing-here`, { headers })).status).toBe(401);
      expect((await fetch(`${url}/health/liveness`, { headers })).status).toBe(200);
      expect((await fetch(`${url}/health/readiness`, { headers })).status).toBe(200);
    });
    expect(calls).toEqual([]);
  });

  test('the right one is let in', async () => {
    await serving([recorder().served], { token: async () => 'right' }, async ({ url }) => {
      expect((await post(url, '{}', bearer('right'))).status).toBe(200);
      expect((await fetch(`${url}/metrics`, { headers: { authorization: 'bearer right' } })).status).toBe(
        200,
      );
    });
  });

  test('a token that goes away lets nobody in', async () => {
    let token: string | undefined = 'right';
    await serving([recorder().served], { token: async () => token }, async ({ url }) => {
      token = undefined;
      expect((await post(url, '{}')).status).toBe(401);
      expect((await post(url, '{}', bearer('undefined'))).status).toBe(401);
    });
  });
});

test('a token file can change while the server runs, with both valid in between', async () => {
  const folder = newFolder();
  const file = join(folder, 'token');
  await writeFile(file, 'old\n');
  await serving([recorder().served], { token: tokenFromFile(file) }, async ({ url }) => {
    const statuses = async () => [
      (await post(url, '{}', bearer('old'))).status,
      (await post(url, '{}', bearer('new'))).status,
    ];
    expect(await statuses()).toEqual([200, 401]);
    await writeFile(file, 'new\nold\n');
    expect(await statuses()).toEqual([200, 200]);
    await writeFile(file, 'new\n');
    expect(await statuses()).toEqual([401, 200]);
    await rm(file);
    expect(await statuses()).toEqual([503, 503]);
  });
  await writeFile(file, '\n');
  await expect(serving([], { token: tokenFromFile(file) }, async () => undefined)).rejects.toThrow(
    'is empty',
  );
});

describe('without a token', () => {
  test('only loopback is listened on, and the error says how to change that', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1'])
      await expect(serving([], { host }, async () => undefined)).rejects.toThrow(
        /BAMEL_TOKEN_FILE.*BAMEL_INSECURE=true/,
      );
  });

  test('insecure listens anyway', async () => {
    await serving([recorder().served], { host: '0.0.0.0', insecure: true }, async ({ port }) => {
      expect((await post(`http://127.0.0.1:${port}/`, '{}')).status).toBe(200);
    });
  });

  const send = async (port: number, headers: string) => {
    const answer = await rawExchange(
      port,
      `POST / HTTP/1.1\r\n${headers}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    return Number(answer.split(' ')[1]);
  };

  test.each([
    ['Host: 127.0.0.1:8080', 200],
    ['Host: localhost', 200],
    ['Host: [::1]:1', 200],
    ['Host: evil.example', 403],
    ['Host: 127.0.0.1.evil.example', 403],
    ['Host: localhost.evil.example:80', 403],
    ['Host: localhost:1\r\nOrigin: http://localhost:1', 200],
    ['Host: localhost:1\r\nOrigin: http://localhost:2', 403],
    ['Host: localhost:1\r\nOrigin: https://evil.example', 403],
    ['Host: localhost:1\r\nOrigin: null', 403],
  ])('a browser cannot be led here: %j → %d', async (headers, status) => {
    await serving([recorder().served], {}, async ({ port }) => {
      expect(await send(port, headers)).toBe(status);
    });
  });
});
