import { join } from 'node:path';
import { labConfig } from '../../../simulator/lab/config.ts';
import { type Lab, startLab } from '../../../simulator/lab/lab.ts';
import {
  type HostFiles,
  type HostProcess,
  startHostProcess,
  writeHostFiles,
} from '../../../tools/support/host-process.ts';
import { type Workloads, workloadsOf } from '../../../tools/worlds/workload.ts';

const mini = { cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 12, shutdownSeconds: 2 };

export interface ConsoleWorld {
  readonly lab: Lab;
  readonly people: Workloads;
  readonly files: HostFiles;
  url(): string;
  /** Ends the host; a later start is at the same address, on the same store. */
  stopHost(): Promise<void>;
  startHost(): Promise<void>;
  close(): Promise<void>;
}

export interface ConsoleWorldOptions {
  /** More flags of the host, whose files are in this folder. */
  readonly args?: (folder: string) => readonly string[];
  /** Where others look as well; otherwise a file. */
  readonly store?: string;
}

/** A lab and a host in a process of its own, which can be restarted. */
export async function startConsoleWorld({
  args = () => [],
  store,
}: ConsoleWorldOptions = {}): Promise<ConsoleWorld> {
  await using cleanup = new AsyncDisposableStack();
  const lab = await startLab({
    machines: [
      { ...mini, name: 'mini-1', pool: 'closet', rack: 'shelf-1', zone: 'home' },
      { ...mini, name: 'mini-2', pool: 'closet', rack: 'shelf-1', zone: 'home' },
      { ...mini, name: 'tower-1', cpu: 16, pool: 'attic', rack: 'shelf-2', zone: 'home' },
    ],
    speed: 4,
  });
  cleanup.defer(() => lab.stop());
  const people = workloadsOf(lab.kubeconfig, 'people');
  await people.createNamespace();
  const files = await writeHostFiles(
    labConfig(lab.inventory(), {
      pools: [
        { name: 'closet', scaleDown: { unneededFor: '1h' } },
        { name: 'attic', limits: { maxNodes: 1 }, scaleDown: { unneededFor: '1h' } },
      ],
    }),
    lab.kubeconfig,
    lab.inventory(),
  );
  cleanup.defer(() => files.remove());
  let host: HostProcess | undefined;
  cleanup.defer(async () => void (await host?.stop()));
  const start = async (port: string): Promise<void> => {
    host = await startHostProcess(files, store ?? `embedded:${join(files.folder, 'store.db')}`, {
      logLevel: 'info',
      args: ['--port', port, '--kwh-price', '0.30', ...args(files.folder)],
    });
    if (!host.url) throw new Error(`the host did not start: ${host.lines.join('\n')}`);
  };
  await start('0');
  const url = host?.url ?? '';
  const running = cleanup.move();
  return {
    lab,
    people,
    files,
    url: () => url,
    stopHost: async () => void (await host?.stop()),
    startHost: () => start(new URL(url).port),
    close: () => running.disposeAsync(),
  };
}
