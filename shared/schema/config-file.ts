import { isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { describeProblem, fieldProblems } from '../runtime/zod-issue.ts';
import { MachineSpec } from './machine.ts';
import { PoolSpec } from './pool.ts';
import { Settings } from './settings.ts';

/** The YAML file: the same sections as the custom resources' specs. */
export const ConfigFile = z
  .strictObject({
    schemaVersion: z.literal('v1alpha1'),
    autoscaler: Settings.prefault({}),
    pools: z.array(PoolSpec).default([]),
    machines: z.array(MachineSpec).default([]),
  })
  .superRefine(({ pools, machines }, context) => {
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
  const input = readValue(document, fileName);
  const parsed = ConfigFile.safeParse(input);
  if (parsed.success) return input as ConfigInput;
  const problems = fieldProblems(ConfigFile, parsed.error).map((problem) => {
    const path = problem.field.split(/[.[\]]+/).filter(Boolean);
    return `${at(offsetOf(document, path))} ${describeProblem(problem)}`;
  });
  throw new ConfigError(problems.join('\n'));
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
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly string[]): number {
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
