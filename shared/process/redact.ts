import { types } from 'node:util';

/**
 * Matches the end, so that `bmcPassword` and `x-auth-token` are secret, and `tokenFile` or `secretName` are
 * not.
 */
const secretName = /(password|passphrase|token|authorization|secret|cookie|api-?key|private-?key)$/i;
const hidden = '[redacted]';
const maxDepth = 8;

/** A copy for a log: no secrets, errors as message, code and stack only. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (typeof value !== 'object' || value === null) return value;
  if (types.isNativeError(value)) return describeError(value, depth);
  if (depth >= maxDepth) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return redacted(value.toJSON(), depth + 1);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secretName.test(name) && item !== undefined ? hidden : redacted(item, depth + 1),
    ]),
  );
}

/** In free text: `https://user:password@host`, `Bearer …`, `Basic …`. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/:\/\/[^/\s@]+@/g, `://${hidden}@`)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${hidden}`);
}

/** Named fields only: an HTTP client's errors carry the whole request, with its headers and its body. */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    type: error.name,
    message: withoutCredentials(error.message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof status === 'number' && { status }),
    stack: withoutCredentials(error.stack ?? ''),
    ...(error.cause !== undefined && depth < maxDepth && { cause: redacted(error.cause, depth + 1) }),
    ...(error instanceof AggregateError &&
      depth < maxDepth && { errors: error.errors.map((one) => redacted(one, depth + 1)) }),
  };
}
