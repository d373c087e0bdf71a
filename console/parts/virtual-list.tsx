import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { shownRows } from '../windowed.ts';

interface Props<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => ComponentChildren;
  /** Called when the end comes into sight and there may be more. */
  readonly onEnd?: (() => void) | undefined;
}

/** Above and below, in pixels. */
const borders = 2;

/** A list of any length: only the rows in sight are in the page. Their height is the style sheet's `--row`. */
export function VirtualList<Item>({ label, items, keyOf, row, onEnd }: Props<Item>) {
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800, rowHeight: 32 });
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const measure = () =>
      setView({
        top: element.scrollTop,
        height: element.clientHeight,
        rowHeight: Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 32,
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const height = items.length * view.rowHeight;
  const { from, to } = shownRows(items.length, view.rowHeight, view.top, view.height);
  const atEnd = to === items.length && items.length > 0;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, onEnd]);
  return (
    <section
      class="virtual"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      ref={list}
      style={{ maxHeight: `${height + borders}px` }}
    >
      <ol style={{ height: `${height}px` }}>
        {items.slice(from, to).map((item, index) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={from + index + 1}
            style={{ transform: `translateY(${(from + index) * view.rowHeight}px)` }}
          >
            {row(item)}
          </li>
        ))}
      </ol>
    </section>
  );
}
