import { readFileSync } from 'node:fs';
import { StoreError } from '../ports.ts';

export interface EtcdAddress {
  /** With their scheme, as etcd3 wants them. */
  readonly hosts: readonly string[];
  readonly credentials?: { readonly ca?: Buffer; readonly key?: Buffer; readonly cert?: Buffer };
  readonly auth?: { readonly username: string; readonly password: string };
}

const parameters = ['ca', 'cert', 'key', 'user', 'passwordFile'] as const;
type Parameter = (typeof parameters)[number];

const help =
  'Use etcd://host:2379,host:2379 or, with TLS, etcds://host:2379?ca=FILE&cert=FILE&key=FILE; add user=NAME&passwordFile=FILE for a password';

/** `etcd://` or `etcds://`, hosts by comma; secrets only as names of files, because URLs end up in logs. */
export function parseEtcdUrl(url: string): EtcdAddress {
  const [, scheme, list, query] = /^(etcds?):\/\/([^/?#@]+)\/?(?:\?(.*))?$/.exec(url) ?? [];
  const hosts = list?.split(',').map((host) => host.trim());
  if (!hosts || hosts.some((host) => !/^(\[[\da-f:]+\]|[\w.-]+)(:\d{1,5})?$/i.test(host)))
    throw new StoreError('refused', `BAMEL_STORE: the etcd address cannot be read. ${help}`);
  const given = Object.fromEntries(new URLSearchParams(query)) as Partial<Record<Parameter, string>>;
  const unknown = Object.keys(given).find((name) => !(parameters as readonly string[]).includes(name));
  if (unknown) throw new StoreError('refused', `BAMEL_STORE: etcd has no parameter ${unknown}. ${help}`);
  const secure = scheme === 'etcds';
  if (!secure && (given.ca || given.cert || given.key))
    throw new StoreError('refused', 'BAMEL_STORE: ca, cert and key are for TLS; write etcds:// for etcd://');
  if (!given.cert !== !given.key || !given.user !== !given.passwordFile)
    throw new StoreError(
      'refused',
      `BAMEL_STORE: cert and key, and user and passwordFile, go together. ${help}`,
    );
  return {
    hosts: hosts.map(
      (host) => `${secure ? 'https' : 'http'}://${/:\d+$/.test(host) ? host : `${host}:2379`}`,
    ),
    ...(secure && { credentials: readCredentials(given) }),
    ...(given.user &&
      given.passwordFile && {
        auth: { username: given.user, password: readFile(given.passwordFile).toString().trimEnd() },
      }),
  };
}

function readCredentials({ ca, key, cert }: Partial<Record<Parameter, string>>) {
  return {
    ...(ca && { ca: readFile(ca) }),
    ...(key && { key: readFile(key) }),
    ...(cert && { cert: readFile(cert) }),
  };
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new StoreError('refused', `BAMEL_STORE: ${(error as Error).message}`, { cause: error });
  }
}
