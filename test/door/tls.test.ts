import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { recorder, serving } from '../runtime/harness.ts';
import { newFolder } from '../support/cleanup.ts';

describeWith(['openssl'], 'HTTPS', () => {
  const folder = newFolder();
  const authorityAt = (name: string) => makeAuthority(mkdtempSync(join(folder, name)));
  const ours = authorityAt('ours-');
  const theirs = authorityAt('theirs-');
  const server = ours.issueServer('bamel');

  type Client = { readonly cert: string; readonly key: string };
  /** The status, and the serial number of the certificate that was shown. */
  function ask(port: number, client?: Client, headers = {}): Promise<{ status: number; serial: string }> {
    return new Promise((resolve, reject) => {
      const agent = new Agent({
        ca: readFileSync(ours.cert),
        ...(client && { cert: readFileSync(client.cert), key: readFileSync(client.key) }),
      });
      const options = { host: '127.0.0.1', port, method: 'POST', agent, headers };
      const asking = request(options, (response) => {
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
        response.resume().on('end', () => {
          agent.destroy();
          resolve({ status: response.statusCode ?? 0, serial });
        });
      });
      asking.on('error', reject);
      asking.end('{}');
    });
  }

  test('fault 39: only who has a certificate of our CA gets in', async () => {
    const { calls, served } = recorder();
    const tls = { ...server, ca: ours.cert };
    await serving([served], { host: '0.0.0.0', tls }, async ({ port, url }) => {
      expect(url).toMatch(/^https:/);
      expect((await ask(port, ours.issueClient('broker'))).status).toBe(200);
      await expect(ask(port)).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/i);
      await expect(ask(port, theirs.issueClient('broker'))).rejects.toThrow(/unknown ca|ECONNRESET|hang up/i);
    });
    expect(calls).toHaveLength(1);
  });

  test('a certificate does not stand for the token where both are asked for', async () => {
    const tls = { ...server, ca: ours.cert };
    await serving([recorder().served], { tls, token: async () => 'act' }, async ({ port }) => {
      const client = ours.issueClient('broker');
      expect((await ask(port, client)).status).toBe(401);
      expect((await ask(port, client, { authorization: 'Bearer act' })).status).toBe(200);
    });
  });

  test('encrypted is not authenticated: beyond loopback somebody must say who may call', async () => {
    await expect(serving([], { host: '0.0.0.0', tls: server }, async () => undefined)).rejects.toThrow(
      'without a token',
    );
  });

  test('a new certificate is taken without a restart; one that does not fit is not', async () => {
    const files = { cert: join(folder, 'live.crt'), key: join(folder, 'live.key') };
    const put = ({ cert, key }: Client) => {
      copyFileSync(cert, files.cert);
      copyFileSync(key, files.key);
    };
    put(server);
    await serving([recorder().served], { tls: { ...files, refreshMs: 20 } }, async ({ port }) => {
      const { serial } = await ask(port);
      copyFileSync(theirs.issueServer('other').key, files.key);
      expect((await ask(port)).serial).toBe(serial);
      put(ours.issueServer('renewed'));
      await eventually(async () => expect((await ask(port)).serial).not.toBe(serial));
    });
  });

  test('a file that is not there is told at the start', async () => {
    const tls = { cert: join(folder, 'nowhere'), key: server.key };
    await expect(serving([], { tls }, async () => undefined)).rejects.toThrow(/certificate cannot be read/);
  });
});
