import type { ReplayPod } from './decisions.ts';

/** Pods that fill a machine each: the n-th runs while n machines are needed. */
export function demandPods(
  needs: readonly number[],
  { start, stepMs, size }: { start: number; stepMs: number; size: Readonly<Record<string, number>> },
): ReplayPod[] {
  const pods: ReplayPod[] = [];
  const began: number[] = [];
  const close = (level: number, step: number): void => {
    const from = began[level];
    if (from === undefined) return;
    const at = start + from * stepMs;
    pods.push({ name: `need-${level}-${from}`, start: at, end: start + step * stepMs, requests: size });
  };
  let before = 0;
  for (const [step, need] of [...needs, 0].entries()) {
    for (let level = need + 1; level <= before; level += 1) close(level, step);
    for (let level = before + 1; level <= need; level += 1) began[level] = step;
    before = need;
  }
  return pods.sort((a, b) => a.start - b.start || Number(a.name < b.name) - 0.5);
}
