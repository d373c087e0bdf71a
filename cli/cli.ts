import { didYouMean } from '../shared/schema/did-you-mean.ts';
import { type Command, type Io, UsageError } from './command.ts';
import { backupCommand } from './commands/backup.ts';
import { drainCommand, maintenanceCommand, retryCommand, uncordonCommand } from './commands/by-hand.ts';
import { completionCommand } from './commands/completion.ts';
import { deadlettersCommand } from './commands/deadletters.ts';
import { describeCommand } from './commands/describe.ts';
import { discoverCommand } from './commands/discover.ts';
import { eventsCommand } from './commands/events.ts';
import { explainCommand } from './commands/explain.ts';
import { exportCommand } from './commands/export.ts';
import { getCommand } from './commands/get.ts';
import { importCommand } from './commands/import.ts';
import { offersCommand } from './commands/offers.ts';
import { powerCommand } from './commands/power.ts';
import { replayCommand } from './commands/replay.ts';
import { restoreCommand } from './commands/restore.ts';
import { simulateCommand } from './commands/simulate.ts';
import { testAlertCommand } from './commands/test-alert.ts';
import { testPowerCommand } from './commands/test-power.ts';
import { topCommand } from './commands/top.ts';
import { validateCommand } from './commands/validate.ts';
import { versionCommand } from './commands/version.ts';

/** To add a command: a file in commands/ and a row here. */
export const commands: Readonly<Record<string, Command>> = {
  get: getCommand,
  describe: describeCommand,
  top: topCommand,
  events: eventsCommand,
  drain: drainCommand,
  uncordon: uncordonCommand,
  maintenance: maintenanceCommand,
  retry: retryCommand,
  completion: completionCommand(() => commands),
  backup: backupCommand,
  deadletters: deadlettersCommand,
  discover: discoverCommand,
  offers: offersCommand,
  power: powerCommand,
  explain: explainCommand,
  export: exportCommand,
  import: importCommand,
  validate: validateCommand,
  replay: replayCommand,
  restore: restoreCommand,
  simulate: simulateCommand,
  'test-alert': testAlertCommand,
  'test-power': testPowerCommand,
  version: versionCommand,
};

/** Exit codes. */
export const exit = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one command line and returns the exit code. */
export async function runCli([name, ...args]: readonly string[], io: Io): Promise<number> {
  if (name === undefined || name === '--help' || name === 'help') {
    (name ? io.stdout : io.stderr).write(overview());
    return name ? exit.done : exit.usage;
  }
  const wanted = name === '--version' ? 'version' : name;
  const command = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  if (!command) {
    io.stderr.write(
      `bamel: there is no command ${name}.${didYouMean(name, Object.keys(commands))} bamel --help lists them.\n`,
    );
    return exit.usage;
  }
  if (args.includes('--help') || args.includes('-h')) {
    io.stdout.write(`${command.summary}\n\nbamel ${name} ${command.usage}\n`);
    return exit.done;
  }
  try {
    return await command.run(args, io);
  } catch (error) {
    return report(name, error as Error & { code?: unknown }, io);
  }
}

function report(name: string, error: Error & { code?: unknown }, { stderr }: Io): number {
  const usage = error instanceof UsageError || String(error.code).startsWith('ERR_PARSE_ARGS');
  stderr.write(`bamel ${name}: ${error.message}\n`);
  if (usage) stderr.write(`bamel ${name} --help shows how it is used.\n`);
  return usage ? exit.usage : exit.failed;
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `bamel COMMAND [OPTIONS]\n\n${rows.join('\n')}\n\nbamel COMMAND --help shows its options.\n`;
}
