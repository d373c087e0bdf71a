/** Gives equal values as one and the same object. */
export type Share = <Value extends object | undefined>(value: Value) => Value;

export const noShare: Share = (value) => value;

/** More than any cluster has templates; labels of Jobs come and go, and must not pile up. */
const most = 50_000;

/** Thousands of pods come from one template: equal parts are stored once. */
export function createShare(): Share {
  const known = new Map<string, object>();
  return <Value extends object | undefined>(value: Value): Value => {
    if (value === undefined) return value;
    const text = JSON.stringify(value);
    const shared = known.get(text);
    if (shared) return shared as Value;
    // Whatever is shared already stays so; only new pods begin to share anew.
    if (known.size >= most) known.clear();
    known.set(text, value);
    return value;
  };
}
