import { z } from 'zod';

type Json = z.core.JSONSchema.JSONSchema;

/** As a CustomResourceDefinition takes it: OpenAPI 3.0, structural, nothing by reference. */
export interface Structural {
  type?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, Structural>;
  required?: string[];
  items?: Structural;
  additionalProperties?: Structural;
  enum?: unknown[];
  anyOf?: { type: string }[];
  'x-kubernetes-validations'?: { rule: string; message: string; fieldPath?: string }[];
  [keyword: string]: unknown;
}

/** What means the same in both dialects. */
const sameKeywords = ['type', 'description', 'default', 'pattern', 'minLength', 'maxLength', 'enum'] as const;
const arrayKeywords = ['minItems', 'maxItems'] as const;

/** What people write, as a structural schema. Throws where the schema says what such a schema cannot. */
export function structuralOf(schema: z.ZodType): Structural {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A pattern stands there without its flags.
      const flags = patternFlags(zodSchema);
      if (flags.includes('i') && jsonSchema.pattern) jsonSchema.pattern = `(?i:${jsonSchema.pattern})`;
    },
  });
  return convert(json, '');
}

function patternFlags(schema: z.core.$ZodType): string {
  const { checks = [] } = schema._zod.def;
  return checks
    .map(({ _zod: { def } }) => ('pattern' in def && def.pattern instanceof RegExp ? def.pattern.flags : ''))
    .join('');
}

function convert(json: Json, path: string): Structural {
  if (json.$ref) throw new Error(`${path}: a structural schema cannot refer to itself`);
  const branches = [...(json.anyOf ?? []), ...(json.oneOf ?? [])].filter((one) => typeof one === 'object');
  if (branches.length > 0) return { ...annotations(json), ...either(branches, path) };
  if (Array.isArray(json.type)) return { ...annotations(json), ...ofTypes(json.type) };
  const result: Structural = {};
  for (const keyword of sameKeywords)
    if (json[keyword] !== undefined) Object.assign(result, { [keyword]: json[keyword] });
  // Other formats are checked by their patterns, or by nobody.
  if (json.format === 'date-time') result.format = json.format;
  if (json.const !== undefined) Object.assign(result, { type: typeof json.const, enum: [json.const] });
  if (json.type === 'integer' || json.type === 'number') Object.assign(result, bounds(json));
  if (json.type === 'array') {
    for (const keyword of arrayKeywords) if (json[keyword] !== undefined) result[keyword] = json[keyword];
    result.items = convert(json.items as Json, `${path}[]`);
  }
  if (json.type === 'object') Object.assign(result, fieldsOf(json, path));
  if (result.type === undefined) result['x-kubernetes-preserve-unknown-fields'] = true;
  return result;
}

const annotations = ({ description, default: value }: Json): Structural => ({
  ...(description !== undefined && { description }),
  ...(value !== undefined && { default: value }),
});

function fieldsOf(json: Json, path: string): Structural {
  const entries = Object.entries(json.properties ?? {}) as [string, Json][];
  if (entries.length > 0)
    return {
      properties: Object.fromEntries(
        entries.map(([name, field]) => [name, convert(field, `${path}.${name}`)]),
      ),
      ...(json.required?.length && { required: json.required }),
    };
  const extra = json.additionalProperties;
  const open = extra === true || (typeof extra === 'object' && Object.keys(extra).length === 0);
  if (open) return { 'x-kubernetes-preserve-unknown-fields': true };
  return typeof extra === 'object' ? { additionalProperties: convert(extra, `${path}.*`) } : {};
}

/** `exclusiveMinimum` is a number here and a flag there; the bounds of every safe integer say nothing. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Json): Structural {
  const says = (value: number | boolean | undefined): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return {
    ...(says(minimum) && { minimum }),
    ...(says(maximum) && { maximum }),
    ...(says(exclusiveMinimum) && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(says(exclusiveMaximum) && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

function ofTypes(types: readonly string[]): Structural {
  const [only, ...others] = types.filter((type) => type !== 'null');
  const nullable = types.includes('null') && { nullable: true };
  if (only !== undefined && others.length === 0) return { type: only, ...nullable };
  if (types.every((type) => ['number', 'integer', 'string'].includes(type))) return intOrString();
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

const intOrString = (): Structural => ({
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
});

/** Alternatives of one type become one; a number or a text is what Kubernetes calls int-or-string. */
function either(branches: readonly Json[], path: string): Structural {
  const converted = branches.filter(({ type }) => type !== 'null').map((one) => convert(one, path));
  const nullable = branches.some(({ type }) => type === 'null') && { nullable: true };
  const [first, ...rest] = converted;
  if (first && rest.length === 0) return { ...first, ...nullable };
  const types = new Set(converted.map(({ type }) => type));
  if (types.size === 1 && types.has('object')) return { ...merged(converted), ...nullable };
  if (types.size === 1 && converted.every((one) => one.enum))
    return { type: first?.type ?? 'string', enum: converted.flatMap((one) => one.enum ?? []), ...nullable };
  if (types.size === 1 && first?.type) return { type: first.type, ...nullable };
  if ([...types].every((type) => type === 'integer' || type === 'number' || type === 'string'))
    return { ...intOrString(), ...nullable };
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

/** Every field that any of them has; required is what all of them require. */
function merged(alternatives: readonly Structural[]): Structural {
  const properties: Record<string, Structural> = {};
  for (const one of alternatives)
    for (const [name, field] of Object.entries(one.properties ?? {})) {
      const before = properties[name];
      properties[name] =
        before?.enum && field.enum
          ? { ...before, enum: [...new Set([...before.enum, ...field.enum])] }
          : field;
    }
  const [first, ...rest] = alternatives.map(({ required = [] }) => required);
  const required = (first ?? []).filter((name) => rest.every((names) => names.includes(name)));
  if (Object.keys(properties).length === 0)
    return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}
