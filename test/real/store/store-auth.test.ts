import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { openStore } from '../../../shared/adapters/store/open-store.ts';
import type { Store, StoreChange } from '../../../shared/ports/store.ts';
import { ensureBinaries } from '../../../tools/real-stack/binaries.ts';
import { makeAuthority } from '../../../tools/real-stack/certificates.ts';
import { base64, etcdCall, startEtcd } from '../../../tools/real-stack/etcd.ts';
import { freePorts } from '../../../tools/real-stack/ports.ts';
import { launch, untilReady } from '../../../tools/real-stack/process.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { startProxy } from '../../../tools/support/cut-proxy.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { newFolder } from '../../support/cleanup.ts';

let cleanup: AsyncDisposableStack;
let folder: string;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
  folder = newFolder();
});
afterEach(() => cleanup.disposeAsync());

async function open(url: string): Promise<Store> {
  return cleanup.adopt(await openStore(url), (store) => store.close());
}
const secret = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, `${text}\n`);
  return file;
};

describeWith(['etcd'], 'etcd with passwords', () => {
  /** A user who may do everything under /baremetal/, and nothing else. */
  async function startWithPasswords() {
    const etcd = cleanup.adopt(await startEtcd({ args: ['--auth-token-ttl=2'] }), (one) => one.close());
    const [endpoint = ''] = etcd.endpoints;
    const range = { key: base64('/baremetal/'), range_end: base64('/baremetal0') };
    for (const [path, body] of [
      ['auth/user/add', { name: 'root', password: 'root' }],
      ['auth/role/add', { name: 'root' }],
      ['auth/user/grant', { user: 'root', role: 'root' }],
      ['auth/user/add', { name: 'bamel', password: 'correct horse' }],
      ['auth/role/add', { name: 'bamel' }],
      ['auth/role/grant', { name: 'bamel', perm: { permType: 'READWRITE', ...range } }],
      ['auth/user/grant', { user: 'bamel', role: 'bamel' }],
      ['auth/enable', {}],
    ] as const)
      expect((await etcdCall(endpoint, path, body)).status).toBe(200);
    return etcd.members[0]?.port ?? 0;
  }

  test('the right password opens our keys, and only ours', async () => {
    const port = await startWithPasswords();
    const store = await open(
      `etcd://127.0.0.1:${port}?user=bamel&passwordFile=${secret('p', 'correct horse')}`,
    );
    const put = (key: string) => store.commit([], [{ put: key, value: '1' }]);
    expect((await put('/baremetal/a')).committed).toBe(true);
    expect((await store.commit([{ key: '/baremetal/b', revision: 0 }], [])).committed).toBe(true);
    const lease = await store.acquire('machine', 3000, 'me');
    expect(lease?.remainingMs()).toBeGreaterThan(0);
    await expect(put('/elsewhere')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('/baremetal/'),
    });
    await expect(store.list('/')).rejects.toMatchObject({ code: 'refused' });
  });

  test.each([
    ['a wrong password', () => `?user=bamel&passwordFile=${secret('p', 'hunter2')}`],
    ['no password', () => ''],
  ])('%s is refused at once and is not shown', async (_name, query) => {
    const store = await open(`etcd://127.0.0.1:${await startWithPasswords()}${query()}`);
    const error = await store.get('/baremetal/a').catch((caught) => caught);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('passwordFile') });
    expect(error.message).not.toContain('hunter2');
  });

  test('calls and watches go on after the token has expired', async () => {
    const port = await startWithPasswords();
    const proxy = cleanup.adopt(await startProxy(port), (one) => one.close());
    const query = `?user=bamel&passwordFile=${secret('p', 'correct horse')}`;
    const store = await open(`etcd://127.0.0.1:${proxy.port}${query}`);
    const other = await open(`etcd://127.0.0.1:${port}${query}`);
    const changes: StoreChange[] = [];
    await store.watch('/baremetal/', (change) => changes.push(change));
    await waitFor('the first', () => changes.length > 0 || undefined);
    // Cut off for longer than the token lives: the watch has to be made anew with an expired one.
    proxy.cut();
    const from = performance.now();
    await waitFor('more than the life of a token', () => performance.now() - from > 4000 || undefined);
    proxy.heal();
    await waitFor('another client writes', () =>
      other.commit([], [{ put: '/baremetal/late', value: '1' }]).catch(() => undefined),
    );
    await waitFor(
      'the watch sees it',
      () =>
        changes.some(
          (change) =>
            (change.type === 'put' && change.entry.key === '/baremetal/late') ||
            (change.type === 'reset' && change.entries.some(({ key }) => key === '/baremetal/late')),
        ) || undefined,
    );
    expect((await store.get('/baremetal/late'))?.value).toBe('1');
  });
});

describeWith(['etcd', 'openssl'], 'etcd with TLS', () => {
  test('client and server know each other by certificate; strangers are turned away', async () => {
    const { etcd } = await ensureBinaries(['etcd']);
    const authority = makeAuthority(folder);
    const server = authority.issueServer('etcd');
    const client = authority.issueClient('bamel');
    const [port = 0, peer = 0] = await freePorts(2);
    const flags = {
      'data-dir': join(folder, 'data'),
      'listen-client-urls': `https://127.0.0.1:${port}`,
      'advertise-client-urls': `https://127.0.0.1:${port}`,
      'listen-peer-urls': `http://127.0.0.1:${peer}`,
      'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
      'initial-cluster': `default=http://127.0.0.1:${peer}`,
      'cert-file': server.cert,
      'key-file': server.key,
      'trusted-ca-file': authority.cert,
    };
    const listening = () =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
        socket.on('error', reject);
      });
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const program = launch({
      name: 'etcd-tls',
      path: etcd,
      logs: folder,
      args: [...args, '--client-cert-auth', '--unsafe-no-fsync'],
      ready: listening,
    });
    cleanup.defer(() => program.kill());
    await untilReady(program, listening);

    const ours = `ca=${authority.cert}&cert=${client.cert}&key=${client.key}`;
    const byAddress = `etcds://127.0.0.1:${port}?serverName=`;
    const good = await open(`etcds://localhost:${port}?${ours}`);
    await waitFor('etcd answers', () => good.list('/'));
    expect((await good.commit([], [{ put: '/a', value: '1' }])).committed).toBe(true);
    const named = await open(`${byAddress}localhost&${ours}`);
    expect((await named.get('/a'))?.value).toBe('1');
    for (const url of [
      `${byAddress}another.name&${ours}`,
      `etcds://localhost:${port}?ca=${authority.cert}`,
      `etcds://localhost:${port}`,
      `etcd://localhost:${port}`,
    ]) {
      const stranger = await open(url);
      await expect(stranger.get('/a')).rejects.toMatchObject({ code: 'unavailable' });
    }
  });
});
