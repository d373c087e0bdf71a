import { z } from 'zod';
import type { ApiRow } from '../../../shared/view/row.ts';
import { rows } from '../../../shared/view/rows.ts';

export const markup = `<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script>'"&amp;`;

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** A value of this shape in which every text that may be anything is markup. */
function hostile({ type, enum: oneOf, properties, items, additionalProperties }: Schema): unknown {
  if (oneOf) return oneOf[0];
  if (type === 'string') return markup;
  if (type === 'number' || type === 'integer') return 1_000;
  if (type === 'boolean') return true;
  if (type === 'array') return [hostile(items ?? {})];
  return {
    ...Object.fromEntries(Object.entries(properties ?? {}).map(([name, one]) => [name, hostile(one)])),
    ...(typeof additionalProperties === 'object' && { [markup]: hostile(additionalProperties) }),
  };
}

const answerOf = ({ shape, list }: ApiRow): unknown => {
  const value = hostile(z.toJSONSchema(shape, { io: 'output' }) as Schema);
  return list ? { items: [value], total: 1, revision: 1 } : value;
};

/** What a host would say whose inventory, cluster and BMCs were all in the wrong hands. */
export function hostileAnswer(path: string): unknown {
  const exact = rows.find((row) => row.path === path);
  const below = rows.find(
    (row) => row.path.endsWith('{name}') && path.startsWith(row.path.slice(0, -'{name}'.length)),
  );
  const row = exact ?? below;
  if (!row) throw new Error(`nobody answers ${path}`);
  return answerOf(row);
}
