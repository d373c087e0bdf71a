import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { realClock } from '../shared/process/clock.ts';
import type { Log } from '../shared/process/log.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { findHierarchies } from './cgroups.ts';
import { serveMetrics } from './metrics.ts';
import { senseNetwork } from './network.ts';
import { createOutbox } from './outbox.ts';
import { readPinned } from './pinned.ts';
import { trackPods } from './pods.ts';
import { createSensor } from './sensor.ts';
import type { SensorSettings } from './settings.ts';
import { createSend } from './sink.ts';
import { nodeSources } from './sources.ts';

const tickMs = 100;

export interface RunningSensor {
  /** Where metrics are served, if they are. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Puts the sensor together and lets it run. */
export async function runSensor(settings: SensorSettings, log: Log): Promise<RunningSensor> {
  const { nodeName: node, proc, sys, sink: url, tokenFile, caCerts } = settings;
  const clock = realClock;
  const hierarchies = findHierarchies(join(sys, 'fs/cgroup'));
  if (!existsSync(join(proc, 'pressure/cpu')))
    log.warn(
      { proc },
      'no pressure stall information: boot the node with psi=1; until then only what is in use counts',
    );
  const network = senseNetwork(sys, settings);
  if (network.problem) log.warn({ problem: network.problem }, 'network pressure is not sensed');
  const disk = settings.disk !== undefined && existsSync(settings.disk) ? settings.disk : undefined;
  if (settings.disk !== disk)
    log.warn({ folder: settings.disk }, 'ephemeral storage is not sensed: the folder is not there');
  const pinned = readPinned(settings.bpf, hierarchies, network.indexes);
  if (pinned.problem) log.info({ problem: pinned.problem }, 'without eBPF: pressure stall information only');
  const sent = new Map<string, { report: PressureReport; count: number }>();
  let failures = 0;
  const outbox = createOutbox({
    send: url ? createSend({ url, tokenFile, caCerts }) : async () => undefined,
    clock,
    log,
    sent(report) {
      const key = `${report.category} ${report.sign}`;
      sent.set(key, { report, count: (sent.get(key)?.count ?? 0) + 1 });
    },
    failed() {
      failures += 1;
    },
  });
  const pods = trackPods(hierarchies, proc, pinned.problem ? undefined : pinned);
  const sources = nodeSources({ proc, settings: settings.bands, network, disk });
  const sensor = createSensor({
    node,
    sources,
    pods,
    firstSequence: clock.now(),
    deliver(report) {
      log.info({ step: 'pressure', ...report }, 'pressure changed');
      outbox.put(report);
    },
  });
  const look = () => ({
    node,
    sources,
    pods: pods.count,
    waiting: outbox.waiting,
    failures,
    sent,
    runQueueMs: pinned.runQueueMs(),
  });
  const served =
    settings.healthPort === undefined
      ? undefined
      : await serveMetrics(look, settings.host, settings.healthPort);
  log.info(
    {
      node,
      cgroups: hierarchies.version,
      network: network.links,
      ebpf: pinned.problem === undefined,
      metrics: served?.url,
    },
    'sensing pressure',
  );
  const timer = setInterval(() => sensor.tick(clock.monotonic()), tickMs);
  return {
    url: served?.url,
    async close() {
      clearInterval(timer);
      sensor.close();
      await outbox.close();
      served?.close();
    },
  };
}
