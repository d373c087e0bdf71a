import { didYouMean } from '../shared/schema/did-you-mean.ts';
import { type Command, flagsOf, type Io, UsageError } from './command.ts';

/** To add a command: a file in commands/ and a row here. Only the command that runs is loaded: a start costs what it needs. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  get: async () => (await import('./commands/get.ts')).getCommand,
  describe: async () => (await import('./commands/describe.ts')).describeCommand,
  top: async () => (await import('./commands/top.ts')).topCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  drain: async () => (await import('./commands/by-hand.ts')).drainCommand,
  uncordon: async () => (await import('./commands/by-hand.ts')).uncordonCommand,
  maintenance: async () => (await import('./commands/by-hand.ts')).maintenanceCommand,
  retry: async () => (await import('./commands/by-hand.ts')).retryCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand(allCommands),
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  deadletters: async () => (await import('./commands/deadletters.ts')).deadlettersCommand,
  discover: async () => (await import('./commands/discover.ts')).discoverCommand,
  offers: async () => (await import('./commands/offers.ts')).offersCommand,
  power: async () => (await import('./commands/power.ts')).powerCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  replay: async () => (await import('./commands/replay.ts')).replayCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  'test-alert': async () => (await import('./commands/test-alert.ts')).testAlertCommand,
  'test-power': async () => (await import('./commands/test-power.ts')).testPowerCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

export const commandNames: readonly string[] = Object.keys(loaders);

export const allCommands = async (): Promise<Readonly<Record<string, Command>>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(loaders).map(async ([name, load]) => [name, await load()] as const)),
  );

/** Exit codes. */
export const exit = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one command line and returns the exit code. */
export async function runCli(line: readonly string[], io: Io): Promise<number> {
  // bamel help get is bamel get --help.
  const [name, ...args] = line[0] === 'help' && line[1] !== undefined ? [line[1], '--help'] : line;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name ? io.stdout : io.stderr).write(overview(await allCommands()));
    return name ? exit.done : exit.usage;
  }
  const wanted = name === '--version' ? 'version' : name;
  const load = Object.hasOwn(loaders, wanted) ? loaders[wanted] : undefined;
  if (!load) {
    io.stderr.write(
      `bamel: there is no command ${name}.${didYouMean(name, commandNames)} bamel --help lists them.\n`,
    );
    return exit.usage;
  }
  const command = await load();
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout.write(`${command.summary}\n\nbamel ${name} ${command.usage}\n`);
    return exit.done;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    return report(name, command, error as Error & { code?: unknown }, io);
  }
}

function report(name: string, { usage }: Command, error: Error & { code?: unknown }, { stderr }: Io): number {
  const isUsage = error instanceof UsageError || String(error.code).startsWith('ERR_PARSE_ARGS');
  // parseArgs suggests how a positional is written, which is hardly ever what was meant.
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(error.message) ?? [];
  const problem = unknown
    ? `there is no option ${unknown}.${didYouMean(unknown, flagsOf(usage))}`
    : error.message;
  stderr.write(`bamel ${name}: ${problem}\n`);
  if (isUsage) stderr.write(`bamel ${name} --help shows how it is used.\n`);
  return isUsage ? exit.usage : exit.failed;
}

function overview(commands: Readonly<Record<string, Command>>): string {
  const width = Math.max(...commandNames.map((name) => name.length));
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `bamel COMMAND [OPTIONS]\n\n${rows.join('\n')}\n\nbamel help COMMAND shows its options.\n`;
}
