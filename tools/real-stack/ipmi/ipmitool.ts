import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../support/programs.ts';

const run = promisify(execFile);

export interface IpmitoolOptions {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly suite: number;
  readonly privilege?: string;
}

/** What everybody asks a BMC with, here as the judge: what it prints about a BMC on 127.0.0.1. */
export function createIpmitool({
  port,
  username,
  password,
  suite,
  privilege = 'ADMINISTRATOR',
}: IpmitoolOptions) {
  const where = ['-I', 'lanplus', '-H', '127.0.0.1', '-p', String(port), '-C', String(suite)];
  const who = ['-U', username, '-E', '-L', privilege];
  return async (...command: readonly string[]): Promise<string> => {
    const env = { ...process.env, IPMITOOL_PASSWORD: password };
    const { stdout } = await run(findProgram('ipmitool') ?? 'ipmitool', [...where, ...who, ...command], {
      env,
    });
    return stdout;
  };
}

/**
 * Sessions that somebody is logged in to, without the one that asks. BMCs also count those that were asked for and
 * never got further, because the answer got lost: they have no user, and go by themselves.
 */
export async function otherSessions(ipmitool: ReturnType<typeof createIpmitool>): Promise<number> {
  const users = [...(await ipmitool('session', 'info', 'all')).matchAll(/user id\s*: (\d+)/g)];
  return users.filter(([, id]) => id !== '0').length - 1;
}

/** What the BMC itself counts, without the one that asks. */
export async function countedSessions(ipmitool: ReturnType<typeof createIpmitool>): Promise<number> {
  const [, count] = /active sessions\s*: (\d+)/.exec(await ipmitool('session', 'info', 'active')) ?? [];
  if (count === undefined) throw new Error('ipmitool does not say how many sessions there are');
  return Number(count) - 1;
}
