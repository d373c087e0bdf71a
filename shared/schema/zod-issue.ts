import { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';

export interface FieldProblem {
  /** `machines[0].resources.cpu`; empty for the whole document. */
  readonly field: string;
  readonly problem: string;
  /** The fields there are, when one is not known. */
  readonly allowed?: readonly string[];
}

/** Limit of problems: comparing names takes time that a hostile sender could use up. */
const mostProblems = 5;

/** The problems of each field, for the person who wrote it; misspelt names first. */
export function fieldProblems(schema: z.ZodType, error: z.ZodError): FieldProblem[] {
  const unknown = error.issues
    .filter((issue) => issue.code === 'unrecognized_keys')
    .flatMap(({ path, keys }) => keys.map((key) => ({ path, key })))
    .slice(0, mostProblems)
    .map(({ path, key }): FieldProblem => {
      const allowed = knownFields(schema, path);
      return {
        field: fieldPath([...path, key]),
        problem: `unknown field.${didYouMean(key, allowed)}`,
        allowed,
      };
    });
  const other = error.issues
    .filter((issue) => issue.code !== 'unrecognized_keys')
    .slice(0, mostProblems)
    .map((issue): FieldProblem => ({ field: fieldPath(issue.path), problem: plainWords(issue.message) }));
  return [...unknown, ...other].slice(0, mostProblems);
}

function plainWords(message: string): string {
  return message
    .replace(/^Invalid input: expected (.*), received undefined$/, 'missing (expected $1)')
    .replace(/^Invalid (?:input|option): /, '');
}

export function describeProblem({ field, problem }: FieldProblem): string {
  return field ? `${field}: ${problem}` : problem;
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`))
    .join('');
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const fields = knownFieldsOf(schema, path, 'input');
  // What is prepared before it is checked takes anything in; what comes out tells the fields.
  return fields.length > 0 ? fields : knownFieldsOf(schema, path, 'output');
}

function knownFieldsOf(schema: z.ZodType, path: readonly PropertyKey[], io: 'input' | 'output'): string[] {
  const root: JsonSchema = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  let here = [root];
  for (const key of path) here = here.flatMap((one) => children(resolve(one, root), key));
  return [...new Set(here.flatMap((one) => Object.keys(resolve(one, root).properties ?? {})))];
}

function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return (name && (root.$defs?.[name] as JsonSchema | undefined)) || schema;
}

function children(schema: JsonSchema, key: PropertyKey): JsonSchema[] {
  const alternatives = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return alternatives
    .filter((one): one is JsonSchema => typeof one === 'object')
    .map((one) =>
      typeof key === 'number' ? one.items : (one.properties?.[String(key)] ?? one.additionalProperties),
    )
    .filter((one): one is JsonSchema => typeof one === 'object' && !Array.isArray(one));
}
