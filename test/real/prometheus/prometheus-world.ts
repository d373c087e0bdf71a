import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '../../../shared/adapters/store/open-store.ts';
import type { AlertBook } from '../../../shared/core/decide/signals/alert-book.ts';
import type { ConfigInput } from '../../../shared/schema/config.ts';
import { labConfig } from '../../../simulator/lab/config.ts';
import { type Lab, startLab } from '../../../simulator/lab/lab.ts';
import { makeMachines } from '../../../simulator/lab/rack/description.ts';
import { type Monitoring, startMonitoring } from '../../../tools/real-stack/monitoring.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { type HostProcess, startHostProcess, writeHostFiles } from '../../../tools/support/host-process.ts';

export interface MonitoredWorld {
  readonly lab: Lab;
  readonly host: HostProcess;
  readonly monitoring: Monitoring;
  /** Power commands that arrived at BMCs, as "machine On". */
  commands(): string[];
  /** When each of them did. */
  commandTimes(): number[];
  /** What the host has written down of alerts. */
  book(): Promise<AlertBook>;
  evaluations(): Promise<number>;
  evaluate(body: object): Promise<Record<string, unknown>>;
  /** Until so many more evaluations have been made. */
  passEvaluations(count: number): Promise<void>;
  close(): Promise<void>;
}

const token = 'callers-secret-for-the-monitored-world';

/** Machines with BMCs, a host in a process of its own that wants a token, a Prometheus, and Alertmanagers if asked. */
export async function startMonitoredWorld(
  pool: Partial<NonNullable<ConfigInput['pools']>[number]>,
  { alertmanagers }: { readonly alertmanagers: boolean },
): Promise<MonitoredWorld> {
  await using cleanup = new AsyncDisposableStack();
  const lab = await startLab({
    machines: makeMachines(3, { name: 'm', bootSeconds: 20, pool: 'rack' }),
    speed: 20,
  });
  cleanup.defer(() => lab.stop());
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack', limits: { minNodes: 1 }, ...pool }] });
  const files = await writeHostFiles(config, lab.kubeconfig, lab.inventory());
  cleanup.defer(() => files.remove());
  const tokenFile = join(files.folder, 'token');
  await writeFile(tokenFile, token);
  const store = `embedded:${join(files.folder, 'store.db')}`;
  // The host must know where Prometheus is, and Alertmanager where the host is: the first begins without alerts.
  const watched = alertmanagers ? undefined : await startMonitoring({});
  if (watched) cleanup.defer(() => watched.close());
  const host = await startHostProcess(files, store, {
    logLevel: 'info',
    args: ['--token-file', tokenFile, ...(watched ? ['--prometheus-url', watched.prometheus.url] : [])],
  });
  cleanup.defer(async () => {
    host.kill('SIGKILL');
    await host.ended;
  });
  const monitoring =
    watched ?? (await startMonitoring({ webhook: { url: `${host.url}/evaluate-scaling`, tokenFile } }));
  if (!watched) cleanup.defer(() => monitoring.close());

  const read = async <Value>(key: string, otherwise: Value): Promise<Value> => {
    const opened = await openStore(store, { readOnly: true });
    try {
      const entry = await opened.get(key);
      return entry ? JSON.parse(entry.value) : otherwise;
    } finally {
      await opened.close();
    }
  };
  const sent = () =>
    [...lab.machines].flatMap(([name, { machine }]) =>
      machine.commands.map(({ at, verb }) => ({ at, text: `${name} ${verb}` })),
    );
  const evaluations = async (): Promise<number> =>
    (await read('/baremetal/global/stats', { evaluations: 0 })).evaluations;
  const running = cleanup.move();
  return {
    lab,
    host,
    monitoring,
    commands: () => sent().map(({ text }) => text),
    commandTimes: () => sent().map(({ at }) => at),
    book: () => read('/baremetal/global/alerts', { seen: {}, steers: {} }),
    evaluations,
    async evaluate(body) {
      const response = await fetch(`${host.url}/evaluate-scaling`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async passEvaluations(count) {
      const wanted = (await evaluations()) + count;
      await waitFor(`${count} evaluations`, async () => ((await evaluations()) >= wanted ? true : undefined));
    },
    close: () => running.disposeAsync(),
  };
}
