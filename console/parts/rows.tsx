import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => ComponentChildren;
  /** Called when the end comes into sight: there may be more to load. */
  readonly onEnd?: (() => void) | undefined;
}

const step = 100;

/** A list of any length. Rows are added as the end comes into sight; what is out of sight is not laid out. */
export function Rows<Item>({ label, items, keyOf, row, onEnd }: Props<Item>) {
  const end = useRef<HTMLDivElement>(null);
  const [most, setMost] = useState(step);
  const isMore = most < items.length;
  useEffect(() => {
    const element = end.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return;
        if (isMore) setMost((before) => before + step);
        else onEnd?.();
      },
      { rootMargin: '1200px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isMore, most, onEnd]);
  return (
    <>
      <ol class="rows" aria-label={label}>
        {items.slice(0, most).map((item) => (
          <li key={keyOf(item)}>{row(item)}</li>
        ))}
      </ol>
      <div ref={end} class="end" aria-hidden="true" />
    </>
  );
}
