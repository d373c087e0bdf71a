import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const readText = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

/** Every page, relative to the project. */
export const pages: readonly string[] = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|coverage)$/.test(String(path)),
}).sort();

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

const fence = /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;

export const codeBlocks = (page: string): CodeBlock[] =>
  [...page.matchAll(fence)].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));

/** The prose of a page. */
export const withoutCode = (page: string): string => page.replaceAll(fence, '').replaceAll(/`[^`\n]*`/g, '');

/** Targets of the links to other files and to anchors, not those to the web. */
export const localLinks = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(page: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of page.replaceAll(fence, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; found.has(anchor); again++) anchor = `${slug}-${again}`;
    found.add(anchor);
  }
  return found;
}

/** The rows of the table under a heading, by first cell without its backticks; the cells are trimmed. */
export function tableRows(page: string, heading: string): Map<string, readonly string[]> {
  const section = page.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => cell.trim()),
  );
  return new Map(rows.slice(1).map((cells) => [(cells[0] ?? '').replaceAll('`', ''), cells]));
}
