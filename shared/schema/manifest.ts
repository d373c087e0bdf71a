import { LineCounter, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KindName } from '../ports/resources.ts';
import { ConfigError, offsetOf } from './config-file.ts';
import { MachineSpec } from './machine.ts';
import { PoolSpec } from './pool.ts';
import { apiVersion, resourceKinds } from './resource-kinds.ts';
import { AutoscalerBinding } from './selector.ts';
import { Settings } from './settings.ts';
import { describeProblem, fieldProblems } from './zod-issue.ts';

const Head = z.looseObject({
  apiVersion: z.string(),
  kind: z.enum(Object.values(resourceKinds).map(({ kind }) => kind)),
  metadata: z.looseObject({ name: z.string().min(1) }),
  spec: z.record(z.string(), z.unknown()),
});
type Head = z.output<typeof Head>;

export interface Manifest {
  readonly kind: KindName;
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const kindNames = new Map(
  (Object.keys(resourceKinds) as KindName[]).map((name) => [resourceKinds[name].kind as string, name]),
);

/** Whether a text is about our custom resources, as kubectl applies them. */
export const hasManifests = (text: string): boolean =>
  new RegExp(`^apiVersion: *["']?${apiVersion}`, 'm').test(text);

/** Checks every custom resource of ours in a text; documents of other kinds are ignored. */
export function parseManifests(text: string, fileName: string): Manifest[] {
  const lines = new LineCounter();
  const problems: string[] = [];
  const manifests: Manifest[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    const at = (offset: number): string => {
      const { line, col } = lines.linePos(offset);
      return `${fileName}:${line}:${col}`;
    };
    if ('errors' in document && document.errors[0]) {
      problems.push(`${at(document.errors[0].pos[0])} ${document.errors[0].message}`);
      continue;
    }
    const value: unknown = document.toJS();
    if ((value as { apiVersion?: unknown } | null)?.apiVersion !== apiVersion) continue;
    const place = (field: string): string =>
      at(offsetOf(document as Parameters<typeof offsetOf>[0], field.split(/[.[\]]+/).filter(Boolean)));
    const head = Head.safeParse(value);
    const wrong = head.success ? specProblems(head.data) : fieldProblems(Head, head.error);
    problems.push(...wrong.map((problem) => `${place(problem.field)} ${describeProblem(problem)}`));
    const kind = head.success && kindNames.get(head.data.kind);
    if (kind) manifests.push({ kind, name: head.data.metadata.name, spec: head.data.spec });
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return manifests;
}

/** The parts of a spec, each with the schema that it must be. */
function partsOf(kind: KindName, name: string, spec: Head['spec']): readonly [z.ZodType, object][] {
  if (kind === 'node') return [[MachineSpec, { ...spec, name }]];
  if (kind === 'pool') return [[PoolSpec, { ...spec, name }]];
  const { selectors, deletionPolicy, ...settings } = spec;
  return [
    [Settings, settings],
    [AutoscalerBinding, { selectors, deletionPolicy }],
  ];
}

function specProblems({ kind, metadata: { name }, spec }: Head) {
  return partsOf(kindNames.get(kind) ?? 'node', name, spec).flatMap(([schema, input]) => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return [];
    return fieldProblems(schema, parsed.error).map(({ field, ...problem }) => ({
      ...problem,
      field: field === 'name' ? 'metadata.name' : `spec.${field}`,
    }));
  });
}
