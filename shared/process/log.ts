import { types } from 'node:util';
import { pino, stdTimeFunctions } from 'pino';
import type { LogStream } from './human-log.ts';
import { humanLogStream } from './human-log.ts';
import { redacted, withoutCredentials } from './redact.ts';

/**
 * Messages are static text; variable parts are fields. An entry with a `step` field (and optionally `machine`
 * and `text`) is shown to people on a terminal.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Log;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export const logFormats = ['json', 'story'] as const;

export interface LogOptions {
  readonly level: (typeof logLevels)[number];
  readonly format: (typeof logFormats)[number];
  readonly stream?: LogStream;
}

export function createLog({ level, format, stream }: LogOptions): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // Errors are plain objects by the time pino sees them.
    serializers: { err: (error: unknown) => error },
  };
  if (format === 'story') return safe(pino(options, humanLogStream(stream ?? process.stdout)));
  // Synchronous: the last line before a crash matters most.
  return safe(pino(options, stream ?? pino.destination({ dest: 1, sync: true })));
}

/** Redacts everything before pino: pino's own redaction covers neither names at any depth nor free text. */
function safe(logger: pino.Logger): Log {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      redacted(types.isNativeError(fields) ? { err: fields } : fields),
      withoutCredentials(message),
    );
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => safe(logger.child(redacted(fields) as Record<string, unknown>)),
  };
}
