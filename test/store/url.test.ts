import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEtcdUrl } from '../../shared/adapters/etcd/url.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { newFolder } from '../support/cleanup.ts';

const folder = newFolder();
let file: (name: string) => string;
beforeAll(() => {
  file = (name) => join(folder, name);
  for (const name of ['ca', 'cert', 'key', 'password']) writeFileSync(file(name), `${name} text\n`);
});

test.each(['', 'etcd', 'redis://x', 'mem:', '/path/to/file'])(
  '%p is no store: the error names the setting and the three forms',
  async (url) => {
    const error = await openStore(url).then(() => undefined, String);
    for (const part of ['BAMEL_STORE', 'embedded:', 'embedded:path/to/file', 'etcd://host:2379,host:2379'])
      expect(error).toContain(part);
  },
);

test.each([
  ['etcd://a', ['http://a:2379']],
  ['etcd://a:1,b.lan:2/', ['http://a:1', 'http://b.lan:2']],
  ['etcd://[::1]:2379', ['http://[::1]:2379']],
  ['etcds://a,b:3', ['https://a:2379', 'https://b:3']],
])('%s has the hosts %j', (url, hosts) => {
  expect(parseEtcdUrl(url).hosts).toEqual(hosts);
});

test('an IP address with TLS needs the name in its certificate', () => {
  expect(parseEtcdUrl('etcds://10.0.0.1:2379?serverName=etcd.lan')).toMatchObject({
    hosts: ['https://10.0.0.1:2379'],
    serverName: 'etcd.lan',
  });
});

test('secrets are read from files', () => {
  const { credentials, auth } = parseEtcdUrl(
    `etcds://a?ca=${file('ca')}&cert=${file('cert')}&key=${file('key')}&user=bamel&passwordFile=${file('password')}`,
  );
  expect(auth).toEqual({ username: 'bamel', password: 'password text' });
  expect(Object.values(credentials ?? {}).map(String)).toEqual(['ca text\n', 'key text\n', 'cert text\n']);
});

test.each([
  ['etcd://', 'cannot be read'],
  ['etcd://a:port', 'cannot be read'],
  ['etcd://a,,b', 'cannot be read'],
  ['etcd://user:secret@a', 'cannot be read'],
  ['etcd://a?pasword=secret', 'etcd has no parameter pasword'],
  ['etcd://a?ca=/x', 'write etcds://'],
  ['etcd://a?serverName=b', 'write etcds://'],
  ['etcds://10.0.0.1', 'add serverName=NAME'],
  ['etcds://a,[::1]:2379', 'add serverName=NAME'],
  ['etcds://a?cert=/x', 'go together'],
  ['etcd://a?user=secret', 'go together'],
  ['etcds://a?ca=/does/not/exist', 'no such file or directory'],
])('%s is refused: %s', (url, message) => {
  const parse = () => parseEtcdUrl(url);
  expect(parse).toThrow(`BAMEL_STORE: `);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow('secret');
});
