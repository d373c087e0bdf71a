import type { Comparison, ReplayOptions, Row } from './compare.ts';
import type { History } from './history.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface Money {
  readonly perKwh: number;
  readonly currency: string;
}

/** What a row comes to, in the units that people read. */
interface ReportRow {
  readonly policy: string;
  readonly settings: string;
  readonly machinesOff: number;
  readonly wakeUpsPerDay: number;
  /** Steps with a wake-up in them: several machines at once are one. */
  readonly wakeUpTimesPerDay: number;
  readonly wakeUpsPerMachineAndDay: number;
  readonly shortSteps: number;
  /** Machines that were needed and not on yet, times hours. */
  readonly missingMachineHours: number;
  readonly onMachineHours: number;
  /** Absent where no watts are known. */
  readonly kWh?: number | undefined;
  readonly cost?: number | undefined;
  /** Of the distance between the policy it is compared with and the oracle, in the energy of idling and booting. */
  readonly gained?: Row['gained'];
  /** Powered machines at the beginning of every step. */
  readonly on?: readonly number[] | undefined;
}

export interface Report {
  readonly source: string;
  readonly from: string;
  readonly until: string;
  readonly stepMs: number;
  readonly steps: number;
  readonly filledSteps: number;
  readonly machines: number;
  readonly bootMs: number;
  readonly currency?: string | undefined;
  readonly rows: readonly ReportRow[];
  readonly suggested: { readonly confidence: number; readonly keep: number; readonly unneededForMs: number };
  readonly method: string;
  readonly methodCosts: Readonly<Record<string, number>>;
  /** What was needed at every step. */
  readonly needs?: readonly number[] | undefined;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

export function reportOf(
  source: string,
  history: History,
  options: ReplayOptions,
  { rows, suggested, method, costs }: Comparison,
  money?: Money,
): Report {
  const { machines, watts, from, bootMs, trace } = options;
  const at = (step: number): string => new Date(history.start + step * history.stepMs).toISOString();
  const toRow = ({ policy, settings, result, overhead, gained }: Row): ReportRow => {
    const days = result.forMs / dayMs;
    const kWh = watts && (overhead + (result.busyMs / hourMs) * watts.max) / 1_000;
    return {
      policy,
      settings,
      machinesOff: round(machines - result.onMs / result.forMs, 2),
      wakeUpsPerDay: round(result.wakeUps / days, 2),
      wakeUpTimesPerDay: round(result.wakeUpSteps / days, 2),
      wakeUpsPerMachineAndDay: round(result.wakeUps / days / machines, 3),
      shortSteps: result.shortSteps,
      missingMachineHours: round(result.missingMs / hourMs, 1),
      onMachineHours: round(result.onMs / hourMs, 1),
      ...(kWh !== undefined && { kWh: round(kWh, 1) }),
      ...(kWh !== undefined && money && { cost: round(kWh * money.perKwh, 2) }),
      ...(gained && { gained: { ...gained, share: round(gained.share, 3) } }),
      ...(result.on && { on: result.on }),
    };
  };
  return {
    source,
    from: at(from),
    until: at(history.needs.length),
    stepMs: history.stepMs,
    steps: history.needs.length - from,
    filledSteps: history.filled,
    machines,
    bootMs,
    ...(money && { currency: money.currency }),
    rows: rows.map(toRow),
    suggested,
    method,
    methodCosts: Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, round(cost, 3)])),
    ...(trace && { needs: history.needs.slice(from) }),
  };
}

/** Only the columns that something is known for. */
export function tableText(report: Report): string {
  const { rows, currency } = report;
  const hasEnergy = rows.some(({ kWh }) => kWh !== undefined);
  const hasCost = rows.some(({ cost }) => cost !== undefined);
  const titles = [
    'POLICY',
    'SETTINGS',
    'MACHINES OFF',
    'WAKE-UPS/DAY',
    'TIMES/DAY',
    'SHORT STEPS',
    'MISSING HOURS',
    ...(hasEnergy ? ['KWH'] : []),
    ...(hasCost ? [currency ?? ''] : []),
    'TO THE ORACLE',
  ];
  const cells = rows.map((row) => [
    row.policy,
    row.settings,
    row.machinesOff.toFixed(2),
    row.wakeUpsPerDay.toFixed(1),
    row.wakeUpTimesPerDay.toFixed(1),
    String(row.shortSteps),
    row.missingMachineHours.toFixed(1),
    ...(hasEnergy ? [row.kWh?.toFixed(0) ?? 'unknown'] : []),
    ...(hasCost ? [row.cost?.toFixed(2) ?? 'unknown'] : []),
    gainText(row.gained),
  ]);
  const lines = aligned([titles, ...cells], new Set([0, 1, titles.length - 1]));
  return `${[introOf(report), '', ...lines, '', notesOf(report)].join('\n')}\n`;
}

/** Columns of equal width; those that are named begin at the left. */
export function aligned(rows: readonly (readonly string[])[], left: ReadonlySet<number>): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    left.has(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('   ').trimEnd());
}

const gainText = (gained: Row['gained']): string =>
  gained
    ? `${Math.round(gained.share * 100)} % of the way from ${gained.than}${gained.noMoreWaiting ? ', no more waiting' : ', more waiting'}`
    : '';

const minutes = (ms: number): string => `${round(ms / 60_000, 1)}m`;

const introOf = ({ source, machines, from, until, steps, stepMs, bootMs, filledSteps }: Report): string =>
  `${source}: ${machines} machines, ${from.slice(0, 16)} to ${until.slice(0, 16)} UTC, ${steps} steps of ${minutes(stepMs)}, boot ${minutes(bootMs)}${filledSteps > 0 ? `; ${filledSteps} steps had no row and repeat the one before` : ''}`;

const notesOf = ({ suggested, method, methodCosts, rows }: Report): string => {
  const byCost = Object.entries(methodCosts).sort(([, a], [, b]) => a - b);
  return [
    `MACHINES OFF is an average. SHORT STEPS began with fewer machines on than needed; MISSING HOURS are machines times hours.`,
    `TO THE ORACLE counts the energy of idling and booting${rows.some(({ kWh }) => kWh !== undefined) ? '' : ' (no watts are known: idle is taken as half of full power)'}.`,
    `Suggested: prewarm {confidence: ${suggested.confidence}, keep: ${suggested.keep}}, unneededFor ${minutes(suggested.unneededForMs)}. It had the least idling and booting before that time at no more waiting than as configured.`,
    `Method in use at the end: ${method}. Machines idle or missing per step: ${byCost.map(([name, cost]) => `${name} ${cost.toFixed(2)}`).join(', ')}.`,
  ].join('\n');
};
