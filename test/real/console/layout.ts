import type { Page } from 'playwright-core';

/** Runs in the page. Text that its box cuts off, and pairs of texts that lie on each other. */
const measure = `(() => {
  const cut = [];
  const boxes = [];
  const walker = document.createTreeWalker(document.querySelector('#app'), NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const said = text.data.trim();
    const element = text.parentElement;
    if (!said || !element || element.closest('.unseen, .skip, .uplot')) continue;
    if (!element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    for (let box = element; box && box.id !== 'app'; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.overflowX === 'visible' || style.overflowX === 'auto' || style.overflowX === 'scroll') continue;
      const edge = box.getBoundingClientRect();
      if (rects.some((rect) => rect.right > edge.right + 2 || rect.left < edge.left - 2)) cut.push(said);
    }
    for (const rect of rects)
      if (rect.bottom > 0 && rect.top < innerHeight * 2) boxes.push({ said, element, rect });
  }
  const over = [];
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1)) {
      if (a.element === b.element) continue;
      const wide = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
      const high = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
      if (wide > 3 && high > 5) over.push(a.said + ' / ' + b.said);
    }
  return { cut, over, beyond: Math.max(0, document.documentElement.scrollWidth - innerWidth) };
})()`;

export interface Findings {
  readonly cut: readonly string[];
  readonly over: readonly string[];
  /** Pixels that the page is wider than the window. */
  readonly beyond: number;
}

export const layoutFindings = async (page: Page): Promise<Findings> =>
  (await page.evaluate(measure)) as Findings;
