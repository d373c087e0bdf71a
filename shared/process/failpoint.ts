import type { Log } from './log.ts';

/** Called where a crash matters most. Does nothing unless a test armed it by name. */
export type Failpoint = (name: string) => void;

const pattern = /^(?<name>[a-z0-9-]+)(?::(?<time>[1-9]\d*))?(?:=(?<action>kill|stop))?$/;

/**
 * `name` kills the process at the first call, `name:2` at the second; `name=stop` stops it with SIGSTOP, and
 * another process must continue it. Like a power cut or a long pause: nothing is cleaned up.
 */
export function createFailpoint(
  spec: string | undefined,
  log?: Log,
  signal = (name: 'SIGKILL' | 'SIGSTOP') => {
    process.kill(process.pid, name);
  },
): Failpoint {
  if (!spec) return () => undefined;
  const armed = pattern.exec(spec)?.groups;
  if (!armed)
    throw new Error(
      `BAMEL_FAILPOINT=${spec} is not understood: write name, name:2, name=stop or name:2=stop`,
    );
  let left = Number(armed.time ?? 1);
  log?.warn({ failpoint: spec }, 'a failpoint is armed: this process will kill or stop itself');
  return (name) => {
    if (name !== armed.name) return;
    left -= 1;
    if (left === 0) signal(armed.action === 'stop' ? 'SIGSTOP' : 'SIGKILL');
  };
}
