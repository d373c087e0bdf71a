import { isIP } from 'node:net';

/** host, host:port or ipmi://host:port, where host is a name, an IPv4 or a bracketed IPv6 address. */
const form = /^(?:ipmi:\/\/)?(?:\[(?<six>[0-9a-f:.]+)\]|(?<host>[a-z0-9_.-]+))(?::(?<port>\d{1,5}))?\/?$/i;
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Undefined unless it is exactly that: it may end up as the argument of a program. */
export function parseAddress(text: string, defaultPort: number): Address | undefined {
  if (isIP(text) === 6) return { host: text, port: defaultPort };
  const { six, host = six, port } = form.exec(text)?.groups ?? {};
  if (host === undefined || host.length > 253) return undefined;
  if (six !== undefined && isIP(six) !== 6) return undefined;
  if (six === undefined && !host.split('.').every((part) => label.test(part))) return undefined;
  const number = port === undefined ? defaultPort : Number(port);
  return number >= 1 && number <= 65_535 ? { host, port: number } : undefined;
}
