import { dirname } from 'node:path';
import { functionTable } from '../../../functions/index.ts';
import type { HostFiles } from '../../support/host-process.ts';
import { freePorts } from '../ports.ts';
import { launch, makeWorkspace, type Program, untilReady } from '../process.ts';

export const functionNames = functionTable.map(({ definition }) => definition.name);

/** A port for each, known before any is started: a broker must be told. */
export async function functionPorts(): Promise<Record<string, number>> {
  const ports = await freePorts(functionNames.length);
  return Object.fromEntries(functionNames.map((name, index) => [name, ports[index] ?? 0]));
}

export interface FunctionOptions {
  /** The built function.mjs. */
  readonly program: string;
  readonly port: number;
  readonly store: string;
  readonly sink?: string;
  readonly files?: HostFiles;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunningFunction extends Program {
  readonly port: number;
  remove(): Promise<void>;
}

/** One function in a process of its own, with nothing in its environment but what a container gives it. */
export async function startFunction(name: string, options: FunctionOptions): Promise<RunningFunction> {
  const { program: path, port, store, sink, files, env = {} } = options;
  const workspace = makeWorkspace(name);
  const settings = {
    BAMEL_FUNCTION: name,
    PORT: String(port),
    BAMEL_STORE: store,
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    ...(sink && { K_SINK: sink }),
    ...(files && {
      BAMEL_CONFIG: files.config,
      KUBECONFIG: files.kubeconfig,
      BAMEL_CREDENTIALS_DIR: files.credentials,
    }),
    ...env,
  };
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/readiness`, {
      signal: AbortSignal.timeout(5_000),
    });
    await answer.arrayBuffer();
    return answer.status === 200 || undefined;
  };
  const program = launch({
    name,
    path: 'env',
    args: [
      '-i',
      ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
      `PATH=${dirname(process.execPath)}`,
      process.execPath,
      path,
    ],
    logs: workspace.logs,
    ready,
  });
  await untilReady(program, ready);
  // Not spread: `pid` and `alive` are of now.
  return Object.assign(Object.create(program) as Program, {
    port,
    async remove() {
      await program.kill();
      workspace.remove();
    },
  });
}
