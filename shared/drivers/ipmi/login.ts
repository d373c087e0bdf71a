import { z } from 'zod';
import type { DriverDeps } from '../../ports/power.ts';
import { pick } from '../common/credentials.ts';
import type { Fail } from '../common/failure.ts';
import type { Options } from './options.ts';
import type { Login } from './talk.ts';

/** As long as IPMI allows, in bytes. None has control characters in it, such as the end of a line. */
const secret = (name: string, most: number) =>
  z
    .string()
    .refine((text) => Buffer.byteLength(text) >= 1 && Buffer.byteLength(text) <= most, {
      error: `${name} must have 1 to ${most} bytes, as IPMI allows no more`,
    })
    .refine((text) => !/\p{Cc}/u.test(text), { error: `${name} has a control character in it` });

const Given = z.object({
  username: secret('username', 16),
  password: secret('password', 20),
  kg: z
    .union([z.string().regex(/^0x([0-9a-f]{2}){1,20}$/i), secret('kg', 20)], {
      error: 'kg must have 1 to 20 bytes, or be 0x and up to 40 hexadecimal digits',
    })
    .optional(),
});

/** The credentials as text, checked, and what they are called. */
export type Secrets = z.output<typeof Given> & { readonly name: string };

export async function readSecrets(
  name: string,
  deps: Pick<DriverDeps, 'credentials'>,
  fail: Fail,
): Promise<Secrets> {
  const given = await deps.credentials(name);
  pick(given, name, ['username', 'password']);
  const parsed = Given.safeParse(given);
  if (parsed.success) return { name, ...parsed.data };
  // The messages are our own: what zod would show of the value never is.
  const why = parsed.error.issues.map(({ message }) => message).join('; ');
  throw fail('config', `the credentials ${name} cannot be used with IPMI: ${why}`);
}

export function loginOf({ name, username, password, kg }: Secrets, options: Options): Login {
  return {
    name,
    username: Buffer.from(username),
    password: Buffer.from(password),
    kg: kg === undefined ? undefined : kgBytes(kg),
    privilege: options.privilege,
    suites: options.cipherSuites,
  };
}

const kgBytes = (kg: string): Buffer =>
  /^0x([0-9a-f]{2}){1,20}$/i.test(kg) ? Buffer.from(kg.slice(2), 'hex') : Buffer.from(kg);
