import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { base64, type Etcd, etcdCall, startEtcd } from '../../../tools/real-stack/etcd.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { newFolder } from '../../support/cleanup.ts';

let etcd: Etcd | undefined;
afterEach(async () => {
  await etcd?.close();
  etcd = undefined;
});

const put = (endpoint: string, value = 'x') =>
  etcdCall(endpoint, 'kv/put', { key: base64('/k'), value: base64(value) });

async function read(endpoint: string): Promise<string | undefined> {
  const { body } = await etcdCall(endpoint, 'kv/range', { key: base64('/k') });
  const [found] = (body as { kvs?: { value: string }[] }).kvs ?? [];
  return found && Buffer.from(found.value, 'base64').toString();
}

describeWith(['etcd'], 'a real etcd', () => {
  test('three members survive the loss of their leader and take it back', async () => {
    etcd = await startEtcd({ members: 3 });
    const leader = await etcd.leader();
    expect((await put(leader.endpoint, 'before')).status).toBe(200);
    await leader.kill();

    const [other] = etcd.members.filter((member) => member !== leader);
    const endpoint = other?.endpoint ?? '';
    const next = await waitFor('another leader', () => etcd?.leader());
    expect(next).not.toBe(leader);
    expect(await waitFor('it answers', () => read(endpoint))).toBe('before');
    await waitFor('it takes writes', async () => (await put(endpoint, 'after')).status === 200 || undefined);

    await leader.restart();
    expect(await read(leader.endpoint)).toBe('after');
  });

  test('with two of three members frozen nothing is written, and all goes on once they thaw', async () => {
    etcd = await startEtcd({ members: 3 });
    const [alone, ...others] = etcd.members;
    const endpoint = alone?.endpoint ?? '';
    expect((await put(endpoint, 'before')).status).toBe(200);
    for (const member of others) member.stop();
    const outcome = await put(endpoint, 'lost').then(
      ({ status }) => `status ${status}`,
      (error: Error) => error.name,
    );
    expect(outcome).not.toBe('status 200');

    for (const member of others) member.cont();
    await waitFor('a quorum', async () => (await put(endpoint, 'after')).status === 200 || undefined);
    expect(await read(endpoint)).toBe('after');
  });

  test('a full etcd refuses writes with NOSPACE and still answers reads', async () => {
    etcd = await startEtcd({ quotaBytes: 4 * 1024 * 1024 });
    const endpoint = etcd.endpoints[0] ?? '';
    await put(endpoint, 'small');
    const big = { key: base64('/big'), value: base64('x'.repeat(1024 * 1024)) };
    const refused = await waitFor('etcd is full', async () => {
      const { status, body } = await etcdCall(endpoint, 'kv/put', big);
      return status === 200 ? undefined : body;
    });
    expect(refused).toMatchObject({ code: 8, message: 'etcdserver: mvcc: database space exceeded' });
    const { body } = await etcdCall(endpoint, 'maintenance/alarm', { action: 'GET' });
    expect(body).toMatchObject({ alarms: [{ alarm: 'NOSPACE' }] });
    expect(await read(endpoint)).toBe('small');
  });

  test('after a compaction old revisions cannot be read', async () => {
    etcd = await startEtcd();
    const endpoint = etcd.endpoints[0] ?? '';
    const { body } = await put(endpoint, 'one');
    const { revision } = (body as { header: { revision: string } }).header;
    await put(endpoint, 'two');
    await etcd.compact();
    const old = await etcdCall(endpoint, 'kv/range', { key: base64('/k'), revision });
    expect(old.body).toMatchObject({ message: 'etcdserver: mvcc: required revision has been compacted' });
    expect(await read(endpoint)).toBe('two');
  });

  test('does not outlive the process that started it, even one that was killed', async () => {
    const folder = newFolder();
    const script = `import { startEtcd } from '${new URL('../../../tools/real-stack/etcd.ts', import.meta.url)}';
    console.log((await startEtcd()).members[0].pid);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(line);
    expect(process.kill(pid, 0)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('etcd is gone', () => isGone(pid) || undefined);
  });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
