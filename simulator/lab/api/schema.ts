import type { Cause } from './status-error.ts';

/** The part of a CustomResourceDefinition's OpenAPI schema that the lab keeps to. CEL rules are not run. */
interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isFields,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
};

const typeNameOf = (value: unknown) =>
  Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

const wrong = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${field} in body should ${why}`,
  field,
});

/** Limits on plain values: each says what the value should have been. */
const limits: readonly ((schema: Schema, value: unknown) => string | undefined)[] = [
  ({ minimum }, value) =>
    minimum !== undefined && Number(value) < minimum ? `be greater than or equal to ${minimum}` : undefined,
  ({ maximum }, value) =>
    maximum !== undefined && Number(value) > maximum ? `be less than or equal to ${maximum}` : undefined,
  ({ pattern }, value) =>
    pattern !== undefined && !new RegExp(pattern).test(String(value)) ? `match '${pattern}'` : undefined,
  ({ minLength }, value) =>
    minLength !== undefined && String(value).length < minLength
      ? `be at least ${minLength} chars long`
      : undefined,
  ({ maxLength }, value) =>
    maxLength !== undefined && String(value).length > maxLength
      ? `be at most ${maxLength} chars long`
      : undefined,
];

function hasType(schema: Schema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value);
  return schema.type === undefined || (types[schema.type]?.(value) ?? true);
}

function valueCauses(schema: Schema, value: unknown, path: string): Cause[] {
  if (!hasType(schema, value))
    return [
      {
        reason: 'FieldValueTypeInvalid',
        message: `Invalid value: ${JSON.stringify(typeNameOf(value))}: ${path} in body must be of type ${schema.type}: ${JSON.stringify(typeNameOf(value))}`,
        field: path,
      },
    ];
  if (schema.enum && !schema.enum.includes(value)) {
    const supported = schema.enum.map((one) => JSON.stringify(one)).join(', ');
    return [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`,
        field: path,
      },
    ];
  }
  if (typeof value === 'object') return [];
  return limits.flatMap((limit) => {
    const why = limit(schema, value);
    return why ? [wrong(path, value, why)] : [];
  });
}

/** Fields every object has, whatever its schema says. */
const always = new Set(['apiVersion', 'kind', 'metadata']);

function shapeFields(schema: Schema, value: Fields, path: string, causes: Cause[]): Fields {
  const result: Fields = {};
  const extra = schema.additionalProperties;
  const below = (key: string) => (path ? `${path}.${key}` : key);
  for (const [key, field] of Object.entries(value)) {
    const own = schema.properties?.[key];
    if (field === undefined) continue;
    if (!path && always.has(key)) result[key] = field;
    else if (own) result[key] = shape(own, field, below(key), causes);
    else if (typeof extra === 'object') result[key] = shape(extra, field, below(key), causes);
    // What the schema does not know is dropped, as the real server does.
    else if (extra === true || schema['x-kubernetes-preserve-unknown-fields']) result[key] = field;
  }
  for (const [key, own] of Object.entries(schema.properties ?? {}))
    if (result[key] === undefined && own.default !== undefined)
      result[key] = shape(own, structuredClone(own.default), below(key), causes);
  for (const key of schema.required ?? [])
    if (result[key] === undefined)
      causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: below(key) });
  return result;
}

function shape(schema: Schema, value: unknown, path: string, causes: Cause[]): unknown {
  causes.push(...valueCauses(schema, value, path));
  if (isFields(value)) return shapeFields(schema, value, path, causes);
  const { items, minItems } = schema;
  if (!Array.isArray(value)) return value;
  if (minItems !== undefined && value.length < minItems)
    causes.push(wrong(path, value.length, `have at least ${minItems} items`));
  return items ? value.map((item, index) => shape(items, item, `${path}[${index}]`, causes)) : value;
}

/** A custom object with unknown fields dropped and defaults filled in, and what is wrong with it. */
export function shaped<T extends object>(schema: Fields, object: T): { object: T; causes: Cause[] } {
  const causes: Cause[] = [];
  return { object: shape(schema, object, '', causes) as T, causes };
}
