import { styleText } from 'node:util';

const stepWidth = 10;
const alarming = new Set(['warn', 'error', 'fatal']);

interface LogEntry extends Record<string, unknown> {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
}

/**
 * Formats JSON log lines for people and drops those without a step: `12:00:04 power tower-1 on, verified by 2
 * reads`.
 */
export function humanLogStream(to: LogStream, env: NodeJS.ProcessEnv = process.env): LogStream {
  const paint: Paint =
    to.isTTY && !env.NO_COLOR
      ? (style, text) => styleText(style, text, { validateStream: false })
      : (_style, text) => text;
  let machineWidth = 0;
  return {
    write(line) {
      const entry = JSON.parse(line) as LogEntry;
      const { step, machine, text, level, time, msg, ...fields } = entry;
      const alarm = alarming.has(level);
      if (step === undefined && !alarm) return;
      const style = level === 'warn' ? 'yellow' : 'red';
      const head = `${paint('dim', clockTime(time))}  `;
      if (step === undefined) {
        to.write(
          `${head}${paint(style, level.padEnd(stepWidth))} ${oneLine(msg)}${list({ machine, ...fields })}\n${stack(entry)}`,
        );
        return;
      }
      const name = machine === undefined ? '' : oneLine(machine);
      machineWidth = Math.max(machineWidth, name.length);
      const who = name && `${name.padEnd(machineWidth)}  `;
      to.write(
        `${head}${paint(alarm ? style : 'cyan', oneLine(step).padEnd(stepWidth))} ${who}${oneLine(text ?? msg)}\n${stack(entry)}`,
      );
    },
  };
}

type Paint = (style: 'dim' | 'cyan' | 'yellow' | 'red', text: string) => string;

function clockTime(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

function list(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${oneLine(isError(value) ? value.message : value)}`)
    .join('');
}

function stack({ level, err }: LogEntry): string {
  if (level === 'warn' || !isError(err) || typeof err.stack !== 'string') return '';
  return err.stack
    .split('\n')
    .map((line) => `          ${oneLine(line)}\n`)
    .join('');
}

function isError(value: unknown): value is { message: string; stack?: unknown } {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
}

/** Names and messages are untrusted: they must not move the cursor or start a new line. */
function oneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** The destination of a log: a terminal, a file, or an array in a test. */
export interface LogStream {
  write(line: string): unknown;
  readonly isTTY?: boolean | undefined;
}
