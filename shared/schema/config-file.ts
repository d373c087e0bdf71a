import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { ConfigFile, type ConfigInput } from './config.ts';
import { fromKubeNodeSmith, kubeNodeSmithSchema } from './kubenodesmith.ts';
import { describeProblem, fieldProblems } from './zod-issue.ts';

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
