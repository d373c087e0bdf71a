import { timelineOf } from '../../shared/core/forecast/counts.ts';
import type { PoolForecast } from '../../shared/core/forecast/pool-forecast.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { defaultPool, defaultSettings } from '../../shared/core/settings.ts';
import { type DecisionsInput, type DecisionsResult, type ReplayPod, runDecisions } from './decisions.ts';
import { expect } from './expectations.ts';
import { runOracle } from './oracle.ts';

export interface PodsOptions {
  readonly bootMs: number;
  readonly unneededForMs: number;
  readonly stepMs: number;
  readonly confidence: number;
  readonly horizonMs: number;
  readonly failureRate: number;
  readonly seed: number;
}

interface PodsRow {
  readonly policy: string;
  readonly machinesOff: number;
  readonly onMachineHours: number;
  readonly wakeUpsPerDay: number;
  readonly podsThatWaited: number;
  readonly waitP50Seconds: number;
  readonly waitP99Seconds: number;
  readonly neverPlaced: number;
  readonly decisions: number;
}

export interface PodsReport {
  readonly machines: number;
  readonly pods: number;
  readonly days: number;
  readonly rows: readonly PodsRow[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The same pods with everything on, as configured, with the forecast; and the least that their resources need. */
export function comparePods(
  pods: readonly ReplayPod[],
  machines: readonly MachineSpec[],
  options: PodsOptions,
): PodsReport {
  const { bootMs, unneededForMs, stepMs, confidence, horizonMs, failureRate, seed } = options;
  const start = Math.floor((pods[0]?.start ?? 0) / stepMs) * stepMs;
  const lastEnd = pods.reduce(
    (last, { start: from, end }) => Math.max(last, end === Number.MAX_SAFE_INTEGER ? from : end),
    start,
  );
  const steps = Math.max(1, Math.ceil((lastEnd - start) / stepMs));
  const until = start + steps * stepMs;
  const needs = needsOf(pods, machines, start, stepMs, steps);
  const input: DecisionsInput = {
    machines,
    pods,
    pool: { ...defaultPool, name: 'replay' },
    settings: { ...defaultSettings, unneededForMs },
    bootMs,
    offMs: 60_000,
    tickMs: 60_000,
    until,
    failureRate,
    seed,
  };
  const rack = { machines: machines.length, bootMs, stepMs };
  const history = { start, stepMs, needs, filled: 0 };
  const { target, last } = expect(history, { bootMs, horizonMs, also: [confidence] });
  const ask = target({ confidence, keep: 0.5 });
  const floor = timelineOf(needs, rack, unneededForMs);
  const ahead = Math.max(0, stepMs - bootMs);
  const forecastAt = (now: number): PoolForecast => {
    const step = Math.min(steps - 1, Math.floor((now - start) / stepMs));
    const needed = needs[step] ?? 0;
    const { atLeast, keep } = ask(step, needed);
    const before = findLast(floor.times, now - start);
    return {
      pool: 'replay',
      needed,
      atLeast: (now - start) % stepMs >= ahead ? atLeast : 0,
      keep: Math.max(keep, floor.on[before] ?? 0),
      confidence,
      leadMs: bootMs,
      horizonMs,
      method: last(confidence).method,
      samples: step + 1,
      costs: {},
    };
  };
  const times = needs.flatMap((need, step) => {
    const changes = need !== needs[step - 1] || step % 6 === 0;
    return changes ? [start + step * stepMs + ahead] : [];
  });
  const forMs = until - start;
  const oracle = runOracle(needs, rack);
  const row = (policy: string, onMs: number, wakeUps: number, run?: DecisionsResult): PodsRow => {
    const waits = [...(run?.waits.values() ?? [])].sort((a, b) => a - b);
    const at = (share: number): number =>
      Math.round((waits[Math.floor(share * (waits.length - 1))] ?? 0) / 1_000);
    return {
      policy,
      machinesOff: round(machines.length - onMs / forMs),
      onMachineHours: round(onMs / hourMs),
      wakeUpsPerDay: round(wakeUps / (forMs / dayMs)),
      podsThatWaited: waits.filter((wait) => wait > 0).length,
      waitP50Seconds: at(0.5),
      waitP99Seconds: at(0.99),
      neverPlaced: run?.neverPlaced ?? 0,
      decisions: run?.decisions ?? 0,
    };
  };
  const reactive = runDecisions(input);
  const ready = runDecisions({ ...input, forecast: { times, at: forecastAt } });
  return {
    machines: machines.length,
    pods: pods.length,
    days: round(forMs / dayMs),
    rows: [
      row('everything on', machines.length * forMs, 0),
      row('reactive', reactive.onMs, reactive.wakeUps, reactive),
      row(`forecast ${Math.round(confidence * 1_000) / 10} %`, ready.onMs, ready.wakeUps, ready),
      row('oracle (resources alone)', oracle.onMs, oracle.wakeUps),
    ],
  };
}

const round = (value: number): number => Number(value.toFixed(2));

function findLast(times: readonly number[], until: number): number {
  let low = -1;
  let high = times.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((times[middle] ?? 0) <= until) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How many machines of the usual size the pods of each step need at the least, by the resource that is shortest. */
function needsOf(
  pods: readonly ReplayPod[],
  machines: readonly MachineSpec[],
  start: number,
  stepMs: number,
  steps: number,
): number[] {
  const names = [...new Set(machines.flatMap(({ resources }) => Object.keys(resources)))].filter(
    (name) => name !== 'pods',
  );
  const needs = new Array<number>(steps).fill(0);
  for (const name of names) {
    const having = machines.filter(({ resources }) => (resources[name] ?? 0) > 0);
    const size = having.reduce((sum, { resources }) => sum + (resources[name] ?? 0), 0) / having.length;
    const changes = new Float64Array(steps + 1);
    for (const { start: from, end, requests } of pods) {
      const amount = requests[name] ?? 0;
      if (amount === 0) continue;
      const first = Math.floor((from - start) / stepMs);
      changes[first] = (changes[first] ?? 0) + amount;
      const after = Math.ceil((end - start) / stepMs);
      if (after <= steps) changes[after] = (changes[after] ?? 0) - amount;
    }
    let used = 0;
    for (let step = 0; step < steps; step += 1) {
      used += changes[step] ?? 0;
      needs[step] = Math.min(machines.length, Math.max(needs[step] ?? 0, Math.ceil(used / size - 1e-6)));
    }
  }
  return needs;
}
