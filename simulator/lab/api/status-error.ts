import type { ResourceType } from './resource-types.ts';

export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

/** An answer the server gives instead of the object: a `Status` body with its HTTP code. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly reason: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: number, reason: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  body() {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

const qualified = (type: ResourceType) => (type.group ? `${type.plural}.${type.group}` : type.plural);

const about = (type: ResourceType, name: string) => ({
  ...(name ? { name } : {}),
  ...(type.group ? { group: type.group } : {}),
  kind: type.plural,
});

export const notFound = (type: ResourceType, name: string) =>
  new StatusError(404, 'NotFound', `${qualified(type)} "${name}" not found`, about(type, name));

export const alreadyExists = (type: ResourceType, name: string) =>
  new StatusError(409, 'AlreadyExists', `${qualified(type)} "${name}" already exists`, about(type, name));

export const conflict = (type: ResourceType, name: string, why: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`,
    about(type, name),
  );

export const staleVersion = (type: ResourceType, name: string) =>
  conflict(
    type,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const forbidden = (type: ResourceType, name: string, why: string) =>
  new StatusError(403, 'Forbidden', `${qualified(type)} "${name}" is forbidden: ${why}`, about(type, name));

/** 422, naming each field that is wrong. */
export function invalid(type: ResourceType, name: string, causes: readonly Cause[]): StatusError {
  const kind = type.group ? `${type.kind}.${type.group}` : type.kind;
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${list}`, {
    ...about(type, name),
    kind: type.kind,
    causes,
  });
}

export const badRequest = (message: string) => new StatusError(400, 'BadRequest', message);

export const expired = (message: string) => new StatusError(410, 'Expired', message);

export const unknownPath = () =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = () =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
