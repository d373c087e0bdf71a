import { writeSync } from 'node:fs';
import type { Log, LogOptions } from '../shared/process/log.ts';
import { redacted, withoutCredentials } from '../shared/process/redact.ts';

export const logLevels = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
] as const satisfies readonly LogOptions['level'][];

/** Lines as the functions write them, without what they write them with. */
export function createSensorLog(
  least: LogOptions['level'],
  write: (line: string) => void = (line) => void writeSync(1, line),
  always: Readonly<Record<string, unknown>> = {},
): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(least)) return;
    const said = redacted({ ...always, ...fields }) as object;
    write(
      `${JSON.stringify({ level, time: new Date().toISOString(), ...said, msg: withoutCredentials(message) })}\n`,
    );
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => createSensorLog(least, write, { ...always, ...fields }),
  };
}
