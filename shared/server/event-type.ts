/** Our own types carry data for a function's `input`; other types only wake it. */
export const ownTypePrefix = 'dev.bamel.';

/** The entry of `wakesOn` that the type falls under; entries may end in `*`. */
export function wakingPattern(wakesOn: readonly string[], type: string): string | undefined {
  return wakesOn.find((pattern) =>
    pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
  );
}
