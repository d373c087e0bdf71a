import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { fromKubeNodeSmith, kubeNodeSmithSchema } from './kubenodesmith.ts';
import { MachineSpec } from './machine.ts';
import { PoolSpec } from './pool.ts';
import { Settings } from './settings.ts';
import { describeProblem, fieldProblems } from './zod-issue.ts';

/** The YAML file: the same sections as the custom resources' specs. */
export const ConfigFile = z
  .strictObject({
    schemaVersion: z.literal('v1alpha1'),
    autoscaler: Settings.prefault({}).describe('what holds for all pools'),
    pools: z.array(PoolSpec).default([]).describe('machines scaled together'),
    machines: z.array(MachineSpec).default([]).describe('the inventory; every pool must be in pools'),
  })
  .superRefine(({ autoscaler, pools, machines }, context) => {
    const repeated = (names: readonly string[], section: string): void => {
      for (const [index, name] of names.entries())
        if (names.indexOf(name) !== index)
          context.addIssue({
            code: 'custom',
            path: [section, index, 'name'],
            message: `${name} is there twice`,
          });
    };
    repeated(
      pools.map(({ name }) => name),
      'pools',
    );
    repeated(
      machines.map(({ name }) => name),
      'machines',
    );
    const profiles = Object.keys(autoscaler.bootProfiles);
    for (const [index, { bootProfile }] of machines.entries())
      if (bootProfile !== undefined && !profiles.includes(bootProfile))
        context.addIssue({
          code: 'custom',
          path: ['machines', index, 'bootProfile'],
          message: `there is no boot profile ${bootProfile} in autoscaler.bootProfiles; there are ${profiles.join(', ') || 'none'}`,
        });
    for (const [index, { pool }] of machines.entries())
      if (!pools.some(({ name }) => name === pool))
        context.addIssue({
          code: 'custom',
          path: ['machines', index, 'pool'],
          message: `there is no pool ${pool}; there are ${pools.map(({ name }) => name).join(', ') || 'none'}`,
        });
  });

export type ConfigInput = z.input<typeof ConfigFile>;

/** Says where in the file, and what to write instead. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Checks the whole file. Nothing of it is used unless all of it is right. */
export function parseConfig(text: string, fileName: string): ConfigInput {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const [broken] = document.errors;
  if (broken) throw new ConfigError(`${at(broken.pos[0])} ${broken.message}`);
  const problemsIn = (schema: z.ZodType, value: unknown, isConverted = false): string[] => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return [];
    return fieldProblems(schema, parsed.error).map((problem) => {
      const path = problem.field.split(/[.[\]]+/).filter(Boolean);
      return `${isConverted ? fileName : at(offsetOf(document, path))} ${describeProblem(problem)}`;
    });
  };
  const input = readValue(document, fileName);
  const theirs = kubeNodeSmithSchema(input);
  const wrong = problemsIn(theirs ?? ConfigFile, input);
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'));
  if (!theirs) return input as ConfigInput;
  const config = fromKubeNodeSmith(input);
  // Fields are called otherwise there, so no place can be named.
  const lost = problemsIn(ConfigFile, config, true);
  if (lost.length > 0) throw new ConfigError(lost.join('\n'));
  return config;
}

function readValue(document: ReturnType<typeof parseDocument>, fileName: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias of nothing, or one that would grow without end.
    throw new ConfigError(`${fileName}: ${(error as Error).message}`);
  }
}

/** Where the field stands, or the nearest thing around it that is there. */
export function offsetOf(document: Document, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const keys = path.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const parent = document.getIn(keys.slice(0, -1), true);
    if (parent && typeof parent === 'object' && 'items' in parent)
      for (const item of parent.items as { key?: unknown }[])
        if (isNode(item.key) && String(item.key) === path[length - 1]) return item.key.range?.[0] ?? 0;
    const node = document.getIn(keys, true);
    if (isNode(node)) return node.range?.[0] ?? 0;
  }
  return 0;
}
