import {
  bytesOf,
  type Condition,
  keyOf,
  maxCommitBytes,
  maxPerCommit,
  StoreError,
  type Write,
} from '../../ports/store.ts';

/** Every store has the same limits, so that a move to etcd breaks nothing. */
export function checkCommit(conditions: readonly Condition[], writes: readonly Write[]): void {
  const keys = writes.map(keyOf);
  const problem =
    (conditions.length > maxPerCommit &&
      `${conditions.length} conditions, at most ${maxPerCommit}; split it`) ||
    (writes.length > maxPerCommit && `${writes.length} writes, at most ${maxPerCommit}; split it`) ||
    (new Set(keys).size < keys.length && 'a key is written twice') ||
    ([...keys, ...conditions.map(({ key }) => key)].includes('') && 'a key is empty');
  if (problem) throw new StoreError('refused', `commit refused: ${problem}`);
  const bytes = writes.reduce((sum, write) => sum + bytesOf(write), 0);
  if (bytes <= maxCommitBytes) return;
  throw new StoreError('refused', `commit refused: ${bytes} bytes, at most ${maxCommitBytes}; split it`);
}
