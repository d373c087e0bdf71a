import { type FieldProblem, fieldProblems } from '../schema/zod-issue.ts';
import { ownTypePrefix } from './event-type.ts';
import type { FunctionDefinition } from './function.ts';

export type Parsed<Input> =
  | { readonly ok: true; readonly input: Input }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function parseInput<Input>(
  { input }: Pick<FunctionDefinition<Input>, 'input'>,
  data: unknown,
): Parsed<Input> {
  const parsed = input.safeParse(data);
  if (parsed.success) return { ok: true, input: parsed.data };
  return { ok: false, problems: fieldProblems(input, parsed.error) };
}

/** The data of foreign events is ignored: the store and the cluster are read instead. */
export function parseEventInput<Input>(
  definition: FunctionDefinition<Input>,
  event: { readonly type: string; readonly data?: unknown },
): Parsed<Input> {
  return parseInput(definition, event.type.startsWith(ownTypePrefix) ? (event.data ?? {}) : {});
}
