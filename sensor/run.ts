import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tokenFromFile } from '../shared/runtime/callers.ts';
import { realClock } from '../shared/runtime/clock.ts';
import { createHttpSink } from '../shared/runtime/http-sink.ts';
import type { Log } from '../shared/runtime/log.ts';
import { findHierarchies } from './cgroups.ts';
import { createSensorMetrics, serveMetrics } from './metrics.ts';
import { senseNetwork } from './network.ts';
import { createOutbox } from './outbox.ts';
import { readPinned } from './pinned.ts';
import { trackPods } from './pods.ts';
import { createSensor } from './sensor.ts';
import type { SensorSettings } from './settings.ts';
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
  const pinned = readPinned(settings.bpf, hierarchies);
  if (pinned.problem) log.info({ problem: pinned.problem }, 'without eBPF: pressure stall information only');
  const metrics = createSensorMetrics(node);
  const http = url
    ? createHttpSink({
        url,
        source: `/bamel/sensor/${node}`,
        clock,
        caCerts,
        ...(tokenFile && { token: tokenFromFile(tokenFile) }),
      })
    : undefined;
  const outbox = createOutbox({
    emit: async (event) => http?.emit(event),
    clock,
    log,
    sent: ({ category, sign }) => metrics.events.inc({ node, category, sign }),
    failed: () => metrics.failures.inc({ node }),
  });
  const pods = trackPods(hierarchies, proc);
  const sources = nodeSources({ proc, settings: settings.bands, network, disk });
  const sensor = createSensor({
    node,
    sources,
    pods,
    firstSequence: clock.now(),
    deliver(report) {
      const told = pinned.problem ? report : { ...report, pods: pinned.addWaits(report.pods) };
      log.info({ step: 'pressure', ...told }, 'pressure changed');
      outbox.put(told);
    },
  });
  metrics.observe(() => ({
    sources,
    pods: pods.count,
    waiting: outbox.waiting,
    runQueueMs: pinned.runQueueMs,
  }));
  const served =
    settings.healthPort === undefined
      ? undefined
      : await serveMetrics(metrics, settings.host, settings.healthPort);
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
      await http?.close();
      await served?.close();
    },
  };
}
