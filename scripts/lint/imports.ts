// Checks that imports point one way between the folders of the tree (layers.ts), and that no files import each other
// in a circle, types included: `imports.ts [folder]`.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { parseSync } from '@swc/core';
import { type Layer, layers, typeCircles } from './layers.ts';

const root = resolve(process.argv[2] ?? '.');
interface Import {
  readonly file: string;
  readonly target: string;
  readonly isPackage: boolean;
  /** Imported when first used: no part of a circle at load time. */
  readonly isDeferred: boolean;
  readonly isType: boolean;
}

const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

const layerOf = (file: string): Layer | undefined =>
  layers
    .filter(({ path }) => isInside(file, path))
    .sort((a, b) => b.path.length - a.path.length)
    .at(0);

/** The folder that a file of layers that are apart belongs to; `common` is everybody's. */
const partOf = (file: string, { path }: Layer): string | undefined => {
  const [part, ...below] = file.slice(path.length + 1).split('/');
  return below.length === 0 || part === 'common' ? undefined : part;
};

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  const add = (source: unknown, isType: boolean, isDeferred = false): void => {
    const target = (source as { value?: string } | null | undefined)?.value;
    if (target === undefined) return;
    const isPackage = !target.startsWith('.');
    const path = isPackage ? target : normalize(join(dirname(file), target));
    found.push({ file, target: path, isPackage, isDeferred, isType });
  };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, source, typeOnly, callee, arguments: given, argument } = node as Record<string, unknown>;
    if (type === 'ImportDeclaration' || type === 'ExportNamedDeclaration' || type === 'ExportAllDeclaration')
      add(source, typeOnly === true);
    else if (type === 'TsImportType') add(argument, true);
    else if (type === 'CallExpression' && (callee as { type: string }).type === 'Import')
      add((given as { expression: unknown }[])[0]?.expression, false, true);
    Object.values(node).forEach(visit);
  };
  const text = readFileSync(join(root, file), 'utf8');
  visit(parseSync(text, { syntax: 'typescript', tsx: file.endsWith('x') }).body);
  return found;
}

function problemOf({ file, target, isPackage }: Import): string | undefined {
  const layer = layerOf(file);
  if (!layer) return `${file}: belongs to no layer; add its folder to scripts/lint/layers.ts`;
  if (isPackage)
    return layer.packages === undefined || layer.packages.includes(target)
      ? undefined
      : `${file}: imports the package ${target}; ${layer.path} may import ${layer.packages.join(', ') || 'none'}`;
  const isOwn = isInside(target, layer.path) && layerOf(target) === layer;
  if (isOwn && layer.apart) {
    const [mine, theirs] = [partOf(file, layer), partOf(target, layer)];
    if (theirs === undefined || mine === theirs) return undefined;
    return `${file}: imports ${target}; the folders of ${layer.path} do not import each other`;
  }
  if (isOwn || layer.imports.some((folder) => isInside(target, folder))) return undefined;
  return `${file}: imports ${target}; ${layer.path} may import ${layer.imports.join(', ') || 'nothing else'}`;
}

/** Files that import each other, each circle once. */
function circles(imports: readonly Import[]): string[] {
  const graph = new Map<string, string[]>();
  const isExplained = ({ file, target, isType }: Import): boolean =>
    isType && typeCircles.some(([from, to]) => from === file && to === target);
  for (const one of imports) {
    const { file, target, isPackage, isDeferred } = one;
    if (!isPackage && !isDeferred && !isExplained(one)) graph.set(file, [...(graph.get(file) ?? []), target]);
  }
  const found: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const path: string[] = [];
  const visit = (file: string): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      return;
    }
    state.set(file, 'open');
    path.push(file);
    for (const target of graph.get(file) ?? []) visit(target);
    path.pop();
    state.set(file, 'done');
  };
  for (const file of graph.keys()) visit(file);
  return found;
}

const folders = [...new Set(layers.map(({ path }) => path.split('/')[0] ?? ''))];
const files = folders.flatMap((folder) =>
  readdirSync(root).includes(folder)
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      )
    : [],
);
const imports = files.filter((file) => /\.tsx?$/.test(file)).flatMap(importsOf);
const problems = [...imports.flatMap((one) => problemOf(one) ?? []), ...circles(imports)];
for (const problem of problems) console.error(problem);
if (problems.length > 0) console.error(`${problems.length} wrong imports`);
process.exit(problems.length > 0 ? 1 : 0);
