import { deployed } from '../../functions/deployed.ts';

export interface Bundle {
  /** Below the output folder; it runs by itself, wherever it is copied. */
  readonly folder: string;
  readonly entry: string;
  /** Served alone: run once when it is built, so that it starts quickly. */
  readonly isFunction?: true;
  /** It serves the console's pages and says what its API means. */
  readonly hasConsole?: true;
}

/** Everything that is built. Functions come from a table, so that none can be forgotten. */
export const bundles: readonly Bundle[] = [
  ...deployed.map(({ name, forPeople }) => ({
    folder: `functions/${name}`,
    entry: `functions/${name}/main.ts`,
    isFunction: true as const,
    ...(forPeople && { hasConsole: true as const }),
  })),
  // It serves gRPC, not events: in no row of the table.
  { folder: 'functions/cluster-autoscaler', entry: 'functions/cluster-autoscaler/main.ts' },
  { folder: 'host', entry: 'functions/main.ts', hasConsole: true },
  { folder: 'bamel', entry: 'cli/main.ts' },
  { folder: 'sensor', entry: 'sensor/main.ts' },
];
