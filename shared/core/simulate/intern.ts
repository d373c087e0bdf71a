/**
 * Numbers things: what is alike has the same number. Objects that are the same one are recognised without looking
 * into them, which is what makes a hundred thousand pods of a few hundred templates cheap.
 */
export type Interner<Value extends object> = (value: Value | undefined) => number;

export function createInterner<Value extends object>(
  textOf: (value: Value) => string,
  onNew: (value: Value) => void = () => {},
): Interner<Value> {
  const byObject = new Map<Value, number>();
  const byText = new Map<string, number>();
  return (value) => {
    if (value === undefined) return 0;
    const known = byObject.get(value);
    if (known !== undefined) return known;
    const text = textOf(value);
    let id = byText.get(text);
    if (id === undefined) {
      id = byText.size + 1;
      byText.set(text, id);
      onNew(value);
    }
    byObject.set(value, id);
    return id;
  };
}

/** The same text whatever the order of the keys. */
export const sortedText = (record: Readonly<Record<string, string | number>>): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
