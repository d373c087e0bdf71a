import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where the kernel keeps account of groups of processes, as far as it is mounted. */
export interface Hierarchies {
  readonly version: 'v2' | 'hybrid' | 'v1';
  /** Version 2: has pressure per pod, and on most machines everything else too. */
  readonly unified?: string | undefined;
  /** Version 1, by controller. */
  readonly cpu?: string | undefined;
  readonly cpuacct?: string | undefined;
  readonly memory?: string | undefined;
}

export function findHierarchies(root: string): Hierarchies {
  const isUnified = (folder: string) => existsSync(join(folder, 'cgroup.controllers'));
  if (isUnified(root)) return { version: 'v2', unified: root };
  const first = (...names: string[]) =>
    names.map((name) => join(root, name)).find((path) => existsSync(path));
  const unified = join(root, 'unified');
  const controllers = {
    cpu: first('cpu', 'cpu,cpuacct'),
    cpuacct: first('cpuacct', 'cpu,cpuacct'),
    memory: first('memory'),
  };
  return isUnified(unified)
    ? { version: 'hybrid', unified, ...controllers }
    : { version: 'v1', ...controllers };
}

/** systemd writes a uid with _, static pods have a hash of their file instead of a uid. */
const podFolder = /^(?:.*-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$/;

/** Folders between the root and the pods: of kubelets, with either driver, also inside kind. */
const onTheWay = /^(?:kubelet|kubepods|besteffort|burstable|guaranteed)(?:[-.]|$)/;
const deepest = 5;

export const podUidOf = (folder: string): string | undefined =>
  podFolder.exec(folder)?.[1]?.replaceAll('_', '-');

/** Every pod's cgroup by the pod's uid, relative to the root of a hierarchy. */
export function listPods(root: string): Map<string, string> {
  const pods = new Map<string, string>();
  const walk = (path: string, depth: number): void => {
    for (const name of foldersIn(join(root, path))) {
      const uid = podUidOf(name);
      if (uid !== undefined) pods.set(uid, join(path, name));
      else if (depth < deepest && onTheWay.test(name)) walk(join(path, name), depth + 1);
    }
  };
  walk('', 0);
  return pods;
}

/** Empty when it is not there (any more): pods come and go while this looks. */
export function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  } catch {
    return [];
  }
}
