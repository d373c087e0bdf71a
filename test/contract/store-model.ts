import fc from 'fast-check';
import type { Condition, Entry, Store, Write } from '../../shared/ports/store.ts';

const key = fc.constantFrom('a', 'b', 'b/c', 'b2', 'ü');
/** `current` and `stale` are looked up when it is their turn. */
const condition = fc.record({
  key,
  field: fc.constantFrom('revision' as const, 'created' as const),
  is: fc.constantFrom('current' as const, 'stale' as const, 'absent' as const),
});
const write = fc.record({ key, value: fc.option(fc.string({ unit: 'grapheme', maxLength: 5 })) });
const commit = fc.record({
  conditions: fc.array(condition, { maxLength: 3 }),
  writes: fc.uniqueArray(write, { selector: (one) => one.key, maxLength: 4 }),
});

type Planned = typeof commit extends fc.Arbitrary<infer T> ? T : never;

/** Sequences of commits that can be played against a store and, in step, on a plain Map. */
export const randomCommits = fc.array(commit, { minLength: 1, maxLength: 12 }).map((commits) => ({
  async play(store: Store, root: string): Promise<void> {
    const model = new Map<string, Entry>();
    for (const planned of commits) {
      const conditions = planned.conditions.map((one) => toCondition(one, model, root));
      const result = await store.commit(
        conditions,
        planned.writes.map((one) => toWrite(one, root)),
      );
      expect(result.committed).toBe(conditions.every((one) => holds(one, model)));
      if (result.committed) apply(planned.writes, model, root, result.revision);
      const { entries } = await store.list(root);
      expect(entries).toEqual(
        [...model.values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
      );
    }
  },
  toString: () => JSON.stringify(commits),
}));

function toCondition(
  planned: Planned['conditions'][number],
  model: Map<string, Entry>,
  root: string,
): Condition {
  const at = root + planned.key;
  const now = model.get(at)?.[planned.field] ?? 0;
  const wanted = { current: now, stale: now + 1, absent: 0 }[planned.is];
  return planned.field === 'revision' ? { key: at, revision: wanted } : { key: at, created: wanted };
}

const toWrite = ({ key: name, value }: Planned['writes'][number], root: string): Write =>
  value === null ? { delete: root + name } : { put: root + name, value };

function holds(one: Condition, model: Map<string, Entry>): boolean {
  const entry = model.get(one.key);
  return 'revision' in one ? (entry?.revision ?? 0) === one.revision : (entry?.created ?? 0) === one.created;
}

function apply(writes: Planned['writes'], model: Map<string, Entry>, root: string, revision: number): void {
  for (const { key: name, value } of writes) {
    const at = root + name;
    if (value === null) model.delete(at);
    else model.set(at, { key: at, value, revision, created: model.get(at)?.created ?? revision });
  }
}
