import { spawnSync } from 'node:child_process';
import { defaultBands } from '../../sensor/default-bands.ts';
import { createSensorLog } from '../../sensor/log.ts';
import { metricsText, serveMetrics } from '../../sensor/metrics.ts';
import type { Source } from '../../sensor/sensor.ts';
import { createSignal } from '../../sensor/signal.ts';
import { describeWith, findProgram } from '../../tools/support/programs.ts';
import { closing } from '../support/cleanup.ts';
import { report } from './report.ts';

const signal = createSignal('cpu', 'psi', defaultBands.bands.cpu, defaultBands.clear);
signal.take(0.7, 0, 0, 1000);
const source: Source = { signal, everyMs: 100, read: () => undefined, close: () => undefined };
const observed = {
  node: 'n1',
  sources: [source],
  pods: 3,
  waiting: 0,
  failures: 2,
  sent: new Map([['cpu rising', { report: report(), count: 4 }]]),
  runQueueMs: 2,
};

test('metrics say what is sensed', () => {
  const text = metricsText(observed);
  for (const line of [
    'bamel_pressure_share{node="n1",category="cpu",signal="psi"} 0.7',
    'bamel_pressure_band{node="n1",category="cpu",signal="psi"} 1',
    'bamel_pressure_events_total{node="n1",category="cpu",sign="rising"} 4',
    'bamel_pressure_failures_total{node="n1"} 2',
    'bamel_pressure_run_queue_seconds{node="n1"} 0.002',
  ])
    expect(text.split('\n')).toContain(line);
  expect(metricsText({ ...observed, node: 'a"b\\c' })).toContain('{node="a\\"b\\\\c"}');
});

test('they are served with health, and nothing else is', async () => {
  const served = closing(await serveMetrics(() => observed, '127.0.0.1', 0));
  const answers = await Promise.all(
    ['metrics', 'health/liveness', 'else'].map((path) => fetch(`${served.url}/${path}`)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404]);
  expect(await answers[0]?.text()).toBe(metricsText(observed));
});

describeWith(['promtool'], 'as Prometheus reads them', () => {
  test('nothing is wrong with them', () => {
    const { status, stderr } = spawnSync(findProgram('promtool') ?? '', ['check', 'metrics'], {
      input: metricsText(observed),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

test('the log has what the functions’ has: lines of JSON, from a level on, without secrets', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createSensorLog('info', (line) => lines.push(JSON.parse(line)));
  log.debug({}, 'not this');
  log.child({ node: 'n1' }).warn({ err: new Error('no'), token: 'secret' }, 'at https://user:word@host');
  expect(lines).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      node: 'n1',
      err: expect.objectContaining({ message: 'no' }),
      token: '[redacted]',
      msg: 'at https://[redacted]@host',
    },
  ]);
});
