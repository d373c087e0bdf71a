import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findHierarchies, foldersIn } from '../../../sensor/cgroups.ts';
import { eventually } from '../../support/eventually.ts';
import { podPaths } from './tree.ts';

export const hierarchies = findHierarchies('/sys/fs/cgroup');

/** What making cgroups needs; the second is no program, but is told like one when it is missing. */
export const cgroupPrograms: readonly string[] = [
  ...(process.getuid?.() === 0 ? [] : ['root, for cgroups,']),
  ...(hierarchies.unified ? [] : ['a cgroup v2 hierarchy']),
];

export interface PodCgroup {
  readonly uid: string;
  readonly path: string;
  /** Runs a program as a container of the pod. */
  run(program: string, args: readonly string[]): ChildProcess;
  limit(what: { readonly memoryBytes?: number; readonly cpus?: number }): void;
  remove(): Promise<void>;
}

/** A pod's cgroup as a kubelet would make it, with one container, in every hierarchy there is. */
export function makePod(uid: string, scheme: keyof typeof podPaths): PodCgroup {
  const path = podPaths[scheme](uid);
  const { unified, cpu, cpuacct, memory } = hierarchies;
  const roots = [...new Set([unified, cpu, cpuacct, memory].filter((root) => root !== undefined))];
  const container = scheme === 'cgroupfs' ? '0123456789ab' : 'cri-containerd-0123456789ab.scope';
  const folders = roots.map((root) => join(root, path, container));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const children: ChildProcess[] = [];
  const set = (root: string | undefined, file: string, value: string): void => {
    if (root === undefined) throw new Error(`there is no hierarchy for ${file}`);
    writeFileSync(join(root, path, container, file), value);
  };
  return {
    uid,
    path,
    run(program, args) {
      const enter = `for folder in ${folders.map((folder) => `'${folder}'`).join(' ')}; do echo $$ > "$folder/cgroup.procs"; done; exec "$@"`;
      const child = spawn('sh', ['-c', enter, 'sh', program, ...args], { stdio: 'ignore', detached: true });
      children.push(child);
      return child;
    },
    limit({ memoryBytes, cpus }) {
      if (hierarchies.version === 'v2') delegate(join(unified ?? '', path, container), unified ?? '');
      const isOld = hierarchies.version !== 'v2';
      if (memoryBytes !== undefined)
        set(isOld ? memory : unified, isOld ? 'memory.limit_in_bytes' : 'memory.max', String(memoryBytes));
      if (cpus !== undefined && isOld) set(cpu, 'cpu.cfs_quota_us', String(cpus * 100_000));
      if (cpus !== undefined && !isOld) set(unified, 'cpu.max', `${cpus * 100_000} 100000`);
    },
    async remove() {
      for (const child of children) await stop(child);
      for (const root of roots)
        for (let folder = join(root, path, container); folder !== root; folder = dirname(folder)) {
          // Others may have pods below the same parents; and the last process takes its time to be gone.
          if (!existsSync(folder) || foldersIn(folder).length > 0) break;
          await eventually(() => rmdirSync(folder));
        }
    },
  };
}

/** Version 2 hands controllers down one level at a time. */
function delegate(folder: string, root: string): void {
  const parent = dirname(folder);
  if (parent !== root) delegate(parent, root);
  writeFileSync(join(parent, 'cgroup.subtree_control'), '+cpu +memory');
}

/** With all its children, which are of one process group. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await gone;
}
