import { isatty } from 'node:tty';
import { StoreError } from '../../shared/ports/store.ts';
import { SettingsError } from '../../shared/process/flags.ts';
import { createLog, type Log } from '../../shared/process/log.ts';
import { type ProcessSettings, readSettings } from '../../shared/process/settings.ts';
import { ConfigError } from '../../shared/schema/config-file.ts';
import { tokenFromFile } from '../../shared/server/authenticate.ts';

/** The settings, or the process ends here with what to write instead. */
export function settingsOrExit(args: readonly string[] = process.argv.slice(2)): ProcessSettings {
  try {
    const read = readSettings(args, process.env);
    if ('settings' in read) return read.settings;
    process.stdout.write(read.help);
    process.exit(0);
  } catch (error) {
    exitOnMistake(error);
  }
}

/** A mistake in the settings is reported in one line with exit code 2; other errors keep their stack. */
export function exitOnMistake(error: unknown): never {
  if (!(error instanceof SettingsError || error instanceof ConfigError || error instanceof StoreError))
    throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}

/** What the settings make of something, or the process ends here. */
export function orExit<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    exitOnMistake(error);
  }
}

export function logFor({ logLevel, logFormat }: ProcessSettings, otherwise?: 'story'): Log {
  return createLog({
    level: logLevel,
    format: logFormat ?? otherwise ?? (isatty(1) ? 'story' : 'json'),
  });
}

export const servingOptions = ({ host, port, insecure, tokenFile }: ProcessSettings) => ({
  host,
  port,
  insecure,
  token: tokenFile ? tokenFromFile(tokenFile) : undefined,
});

/** Runs `stop` once on SIGINT or SIGTERM, then exits. */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130);
    stopping = true;
    log.info(
      { step: 'stop', signal, text: 'finishing what is under way; again to stop at once' },
      'stopping',
    );
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopped with an error');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
