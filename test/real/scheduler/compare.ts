import { type Reason, textOf } from '../../../shared/core/reasons/reason.ts';
import type { Case } from './cases.ts';
import { judgeByEngine } from './engine.ts';
import type { Judge } from './judge.ts';

export type Result =
  /** With the core's reason: the scheduler's speak of all nodes together. */
  | { readonly kind: 'agreed'; readonly refusal: Reason | undefined }
  /** The API server does not take such objects. */
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'differ'; readonly scheduler: string; readonly engine: string };

export async function compare(judge: Judge, cases: readonly Case[]): Promise<Result[]> {
  const verdicts = await judge.judge(cases);
  return verdicts.map((verdict): Result => {
    if (verdict instanceof Error) return { kind: 'invalid', why: verdict.message };
    const engine = judgeByEngine(verdict.served);
    if ((engine === undefined) === (verdict.refusal === undefined))
      return { kind: 'agreed', refusal: engine };
    return {
      kind: 'differ',
      scheduler: verdict.refusal ?? 'it fits',
      engine: engine ? textOf(engine) : 'it fits',
    };
  });
}

type Difference = Extract<Result, { kind: 'differ' }>;

/** Takes things out of the case for as long as the two still differ; all attempts of a step are judged at once. */
export async function smallest(judge: Judge, given: Case, difference: Difference): Promise<string> {
  let current = given;
  let told = difference;
  for (let step = 0; step < 40; step++) {
    const smaller = withoutOne(current);
    const results = await compare(judge, smaller);
    const found = results.findIndex((result) => result.kind === 'differ');
    const next = smaller[found];
    if (!next) break;
    current = next;
    told = results[found] as Difference;
  }
  return `kube-scheduler: ${told.scheduler}\nthe core: ${told.engine}\n${JSON.stringify(current, undefined, 1)}`;
}

/** Every case that has one element or field less. The nodes before the target stay, or it would be another. */
function withoutOne(given: Case): Case[] {
  const smaller: Case[] = [];
  const walk = (value: unknown, rebuild: (replaced: unknown) => unknown): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        smaller.push(rebuild(value.toSpliced(index, 1)) as Case);
        walk(item, (replaced) => rebuild(value.with(index, replaced)));
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        const { [key]: _, ...rest } = value as Record<string, unknown>;
        smaller.push(rebuild(rest) as Case);
        walk(item, (replaced) => rebuild({ ...value, [key]: replaced }));
      }
    }
  };
  walk(given, (replaced) => replaced);
  return smaller.filter(isWhole);
}

const isWhole = (one: Case): boolean =>
  one.nodes?.[one.target]?.metadata?.labels?.case !== undefined &&
  one.nodes.every((node) => node.metadata?.name && node.metadata.labels?.case && node.status?.allocatable) &&
  [one.running, one.volumes, one.claims, one.storageClasses].every(Array.isArray) &&
  [...one.running, one.pod, ...one.volumes, ...one.claims].every(
    (each) => each?.metadata?.name && each.metadata.labels?.case,
  ) &&
  one.running.every(({ spec }) => one.nodes.some(({ metadata }) => metadata?.name === spec?.nodeName)) &&
  one.pod.metadata?.labels?.judged === 'yes' &&
  one.pod.spec?.nodeSelector?.case !== undefined;
