import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { StoreError } from '../../ports/store.ts';

export interface EtcdAddress {
  /** With their scheme, as etcd3 requires. */
  readonly hosts: readonly string[];
  readonly credentials?: { readonly ca?: Buffer; readonly key?: Buffer; readonly cert?: Buffer };
  /** The name that the servers' certificates must have, instead of the host's. */
  readonly serverName?: string;
  readonly auth?: { readonly username: string; readonly password: string };
}

const parameters = ['ca', 'cert', 'key', 'serverName', 'user', 'passwordFile'] as const;
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
  if (!secure && (given.ca || given.cert || given.key || given.serverName))
    throw new StoreError(
      'refused',
      'BAMEL_STORE: ca, cert, key and serverName are for TLS; write etcds:// for etcd://',
    );
  // gRPC would send the address as the server's name, which Node refuses to do.
  if (secure && !given.serverName && hosts.some(isAddress))
    throw new StoreError(
      'refused',
      'BAMEL_STORE: with TLS, hosts are names; to use IP addresses add serverName=NAME, one that is in the certificates of all of them (often localhost)',
    );
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
    ...(given.serverName && { serverName: given.serverName }),
    ...(given.user &&
      given.passwordFile && {
        auth: { username: given.user, password: readFile(given.passwordFile).toString().trimEnd() },
      }),
  };
}

const isAddress = (host: string) => host.startsWith('[') || isIP(host.replace(/:\d+$/, '')) > 0;

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
