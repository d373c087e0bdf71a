import { readFileSync } from 'node:fs';
import { compare } from '../simulator/replay/compare.ts';
import { parseDemand } from '../simulator/replay/demand-csv.ts';
import { type History, toHistory } from '../simulator/replay/history.ts';
import { shapeStepMs, shapes } from '../simulator/replay/shapes.ts';
import type { Table } from './table.ts';

const days = 56;
const dayMs = 86_400_000;

/** More histories to run, as FILE.csv:FILE.csv of time,active[,total] rows. */
const files = (process.env.REPLAY_FILES ?? '').split(':').filter(Boolean);

/** Reactive, forecast and oracle on histories of different shape; the first 60 % are for learning. */
export async function benchReplay(): Promise<Table> {
  const made = [...shapes(days, 1)].map(([name, { machines, needs }]): [string, number, History] => [
    name,
    machines,
    { start: 0, stepMs: shapeStepMs, needs, filled: 0 },
  ]);
  const read = files.map((file): [string, number, History] => {
    const history = toHistory(parseDemand(readFileSync(file, 'utf8')), shapeStepMs);
    return [file.split('/').at(-1) ?? file, history.total ?? Math.max(...history.needs), history];
  });
  const methods = new Map<string, string>();
  const rows = [...made, ...read].flatMap(([name, machines, history]) => {
    const comparison = compare(history, {
      machines,
      bootMs: 300_000,
      unneededForMs: 600_000,
      from: Math.floor(history.needs.length * 0.6),
      confidence: 0.99,
      horizonMs: 3_600_000,
    });
    const byCost = Object.entries(comparison.costs).sort(([, a], [, b]) => a - b);
    methods.set(name, byCost.map(([method, cost]) => `${method} ${cost.toFixed(2)}`).join(', '));
    return comparison.rows
      .filter(({ policy, settings }) => policy !== 'reactive' || settings === 'unneededFor 10m')
      .map(({ policy, result, overhead, gained }) => [
        name,
        policy,
        (machines - result.onMs / result.forMs).toFixed(2),
        overhead.toFixed(0),
        String(result.shortSteps),
        (result.missingMs / 3_600_000).toFixed(0),
        (result.wakeUps / (result.forMs / dayMs)).toFixed(1),
        gained ? `${Math.round(gained.share * 100)} %${gained.noMoreWaiting ? '' : ' (more waiting)'}` : '',
      ]);
  });
  return {
    columns: [
      'history',
      'policy',
      'off',
      'idle+boot h',
      'short steps',
      'missing h',
      'wake-ups/day',
      'gained',
    ],
    rows,
    notes: [
      `${days} days of ten-minute steps each, 100 machines, boot 5 minutes, unneededFor 10 minutes; counted over the last 40 %. idle+boot h: machine hours at full power that idling (half) and booting (three quarters) took.`,
      'gained: how much of the distance to the oracle. forecast against reactive, its settings chosen on the first 60 % at no more waiting; forecast 99 % against the spare machines that wait about as little.',
      'Methods by machines idle or missing per step at a confidence of 0.99:',
      ...[...methods].map(([name, text]) => `  ${name}: ${text}`),
    ],
  };
}
