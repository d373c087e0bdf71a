import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { compare, type ReplayOptions } from '../../simulator/replay/compare.ts';
import { HistoryError, parseDemand, parseTime } from '../../simulator/replay/demand-csv.ts';
import { type History, toHistory, usualStep } from '../../simulator/replay/history.ts';
import { htmlOf, svgOf } from '../../simulator/replay/picture.ts';
import { comparePods } from '../../simulator/replay/pods-compare.ts';
import { parseMachines, parsePods } from '../../simulator/replay/pods-csv.ts';
import { podsTable } from '../../simulator/replay/pods-table.ts';
import { type Money, reportOf, tableText } from '../../simulator/replay/report.ts';
import { type Command, UsageError } from '../command.ts';
import { durationOf } from '../duration-flag.ts';

const outputs = ['table', 'json', 'svg', 'html'] as const;

export const replayCommand: Command = {
  summary: 'say what a past workload would have cost under each policy: machines off, waiting, wake-ups',
  usage: `--demand FILE | --pods FILE --nodes FILE
      --demand FILE        CSV of time,active[,total]: how many machines were needed, and how many there were
      --pods FILE          CSV of start,end,cpu,memory[,gpu]: pods, run through the decisions themselves
      --nodes FILE         with --pods: CSV of cpu,memory[,gpu][,name][,count]: the machines
      --fail P             with --pods: how likely a boot fails, 0 to 1 (default: 0)
      --seed N             with --fail: which boots fail (default: 1)
      --machines N         machines there are; default: the largest total, else the largest active
      --step DURATION      e.g. 10m; within a step the largest need counts; default: the usual distance of rows
      --train-until DATE   count from then on, learn from what came before; default: the middle
      --boot DURATION      from power-on to a Ready node (default: 5m)
      --unneeded-for DURATION  as configured: off after so long without need (default: 10m)
      --confidence P       of the last forecast in the table, 0.5 to 0.999 (default: 0.99)
      --horizon DURATION   how far ahead idle machines are kept for (default: 1h)
      --watts IDLE:MAX     of a machine, for the energy
      --price P            of a kWh, with --watts
      --currency NAME      of the price (default: EUR)
  -o, --output FORMAT      table, json, svg or html (default: table)`,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: flags });
    const output = outputs.find((one) => one === values.output);
    if (!output) throw new UsageError(`there is no output ${values.output}: there are ${outputs.join(', ')}`);
    if (values.pods !== undefined) {
      io.stdout.write(await replayPods(values, output));
      return 0;
    }
    if (values.demand === undefined)
      throw new UsageError('which history? Give --demand FILE, or --pods FILE with --nodes FILE');
    const history = await readDemand(values.demand, values.step);
    const options = optionsOf(values, history, output !== 'table');
    const comparison = compare(history, options);
    const report = reportOf(values.demand, history, options, comparison, moneyOf(values));
    const texts = {
      table: () => tableText(report),
      json: () => `${JSON.stringify(report, undefined, 2)}\n`,
      svg: () => svgOf(report),
      html: () => htmlOf(report, tableText(report)),
    };
    io.stdout.write(texts[output]());
    return 0;
  },
};

const flags = {
  demand: { type: 'string' },
  pods: { type: 'string' },
  nodes: { type: 'string' },
  fail: { type: 'string', default: '0' },
  seed: { type: 'string', default: '1' },
  machines: { type: 'string' },
  step: { type: 'string' },
  'train-until': { type: 'string' },
  boot: { type: 'string', default: '5m' },
  'unneeded-for': { type: 'string', default: '10m' },
  confidence: { type: 'string', default: '0.99' },
  horizon: { type: 'string', default: '1h' },
  watts: { type: 'string' },
  price: { type: 'string' },
  currency: { type: 'string', default: 'EUR' },
  output: { type: 'string', short: 'o', default: 'table' },
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

/** What a file says; what is wrong with it is named with the file. */
async function readHistory<Read>(file: string, parse: (text: string) => Read): Promise<Read> {
  const text = await readFile(file, 'utf8');
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof HistoryError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

const readDemand = (file: string, step: string | undefined): Promise<History> =>
  readHistory(file, (text) => {
    const samples = parseDemand(text);
    return toHistory(samples, step === undefined ? usualStep(samples) : stepOf(step));
  });

function stepOf(text: string): number {
  const stepMs = durationOf('--step', text);
  if (stepMs >= 1_000) return stepMs;
  throw new UsageError(`--step ${text}: a step is at least 1s`);
}

async function replayPods(values: Flags, output: (typeof outputs)[number]): Promise<string> {
  const { pods: file = '', nodes, watts } = values;
  if (nodes === undefined) throw new UsageError('--pods needs --nodes FILE: the machines that there are');
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`--pods has no output ${output}: there are table and json`);
  const pods = await readHistory(file, parsePods);
  const machines = await readHistory(nodes, (text) =>
    parseMachines(text, watts ? wattsOf(watts) : undefined),
  );
  const report = comparePods(pods, machines, {
    bootMs: durationOf('--boot', values.boot),
    unneededForMs: durationOf('--unneeded-for', values['unneeded-for']),
    stepMs: stepOf(values.step ?? '10m'),
    confidence: numberOf('--confidence', values.confidence, 0.5, 0.999),
    horizonMs: durationOf('--horizon', values.horizon),
    failureRate: numberOf('--fail', values.fail, 0, 1),
    seed: numberOf('--seed', values.seed, 0, 2 ** 32 - 1),
  });
  return output === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : podsTable(file, report);
}

function numberOf(flag: string, text: string, least: number, most: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most) return value;
  throw new UsageError(`${flag} ${text}: write a number from ${least} to ${most}`);
}

function optionsOf(values: Flags, history: History, trace: boolean): ReplayOptions {
  const { needs, start, stepMs, total } = history;
  const machines =
    values.machines === undefined
      ? (total ?? needs.reduce((most, need) => Math.max(most, need), 1))
      : numberOf('--machines', values.machines, 1, 100_000);
  if (!Number.isInteger(machines))
    throw new UsageError(`--machines ${values.machines}: write a whole number`);
  const bootMs = durationOf('--boot', values.boot);
  return {
    machines,
    bootMs,
    unneededForMs: durationOf('--unneeded-for', values['unneeded-for']),
    from: firstStep(values['train-until'], { needs, start, stepMs }),
    confidence: numberOf('--confidence', values.confidence, 0.5, 0.999),
    horizonMs: durationOf('--horizon', values.horizon),
    watts: values.watts === undefined ? undefined : wattsOf(values.watts),
    trace,
  };
}

function firstStep(
  text: string | undefined,
  { needs, start, stepMs }: Pick<History, 'needs' | 'start' | 'stepMs'>,
): number {
  if (text === undefined) return Math.floor(needs.length / 2);
  let at: number;
  try {
    at = parseTime(text);
  } catch (error) {
    throw new UsageError(`--train-until: ${(error as Error).message}`);
  }
  const step = Math.ceil((at - start) / stepMs);
  if (step >= 0 && step < needs.length) return step;
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
  throw new UsageError(
    `--train-until ${text}: the history goes from ${day(start)} to ${day(start + needs.length * stepMs)}`,
  );
}

function wattsOf(text: string): { idle: number; max: number } {
  const [idle, max, ...rest] = text.split(':').map((part) => numberOf('--watts', part, 0, 1e6));
  if (idle !== undefined && max !== undefined && max >= idle && rest.length === 0) return { idle, max };
  throw new UsageError(`--watts ${text}: write IDLE:MAX, e.g. 80:240`);
}

function moneyOf({ price, currency, watts }: Flags): Money | undefined {
  if (price === undefined) return undefined;
  if (watts === undefined) throw new UsageError('--price needs --watts: without watts there is no energy');
  return { perKwh: numberOf('--price', price, 0, 1e6), currency };
}
