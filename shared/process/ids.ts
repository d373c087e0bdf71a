import { randomBytes } from 'node:crypto';

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const timeDigits = 10;
const randomDigits = 8;

/** `op-01k9…`: sorts by the time it was made, unique across processes, usable in Kubernetes names and store keys. */
export function newId(prefix: string, now = Date.now()): string {
  let time = '';
  for (let rest = now; time.length < timeDigits; rest = Math.floor(rest / 32))
    time = digits[rest % 32] + time;
  const random = [...randomBytes(randomDigits)].map((byte) => digits[byte % 32]).join('');
  return `${prefix}-${time}${random}`;
}
