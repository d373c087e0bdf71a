import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { defaultBands } from '../../sensor/default-bands.ts';
import { SensorBands } from '../../sensor/options.ts';
import { readSensorSettings } from '../../sensor/settings.ts';
import { sensorFlags } from '../../tools/real-stack/sensor/sensor-flags.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const docs = read('docs/pressure.md');
const asked = await readSensorSettings(['--help'], {});
const help = 'help' in asked ? asked.help : '';
const variables = [...help.matchAll(/^ {2}--\S+(?: [A-Z]+)? +([A-Z_]+) /gm)].map(([, name]) => name ?? '');

test.each([
  [['--health-port', '65536'], /^--health-port: write a number from 0 to 65535$/],
  [['--megabits', '0'], /^--megabits: write a number from 1 on$/],
  [['--megabits', 'many'], /^--megabits: write a whole number$/],
  [['--sink', 'elsewhere'], /^--sink: write an http/],
  [['--log-level', 'loud'], /^--log-level: write one of trace, /],
  [['--nodename', 'n1'], /Did you mean node-name/],
])('%j is refused with what to write instead', async (args, why) => {
  await expect(readSensorSettings(args, {})).rejects.toThrow(why);
});

test('flags win over the environment, and what is not set has its default', async () => {
  const read = await readSensorSettings(['--node-name', 'n1', '--bands', '{"clear":{"for":"5s"}}'], {
    NODE_NAME: 'n2',
    K_SINK: 'http://host:8080/evaluate-scaling',
    BAMEL_SENSOR_INTERFACES: 'eth0, eth1',
    BAMEL_HEALTH_PORT: '',
  });
  expect(read).toEqual({
    settings: expect.objectContaining({
      nodeName: 'n1',
      sink: 'http://host:8080/evaluate-scaling',
      interfaces: ['eth0', 'eth1'],
      healthPort: undefined,
      proc: '/proc',
      logLevel: 'info',
      bands: { ...defaultBands, clear: { below: 0.6, forMs: 5_000 } },
    }),
  });
});

test('every setting is in the docs, and nothing else is', () => {
  expect(variables.length).toBeGreaterThan(10);
  const [, table = ''] = read('docs/settings.md').split('## Sensor');
  const documented = [...table.matchAll(/\| `([A-Z_]+)` \|/g)].map(([, name]) => name);
  expect(documented.toSorted()).toEqual(variables.toSorted());
});

test('the docs have the bands as they are, and an example that is taken', () => {
  const percent = (above: number) => `${Math.round(above * 100)} %`;
  const time = (ms: number) => (ms < 1000 ? `${ms}ms` : `${ms / 1000}s`);
  for (const [category, { pressed = [], severe = [] }] of Object.entries(defaultBands.bands)) {
    const cell = (rules: typeof pressed) =>
      rules.map(({ above, forMs }) => `${percent(above)} for ${time(forMs)}`).join(', or ');
    expect(docs.replace(/ +\|/g, ' |')).toContain(
      `| \`${category}\` | ${cell(pressed)} | ${cell(severe)} |`.replace(/^(\| `[^`]+`) \|/, '$1 |'),
    );
  }
  const example = docs.slice(docs.indexOf('```json') + 7, docs.indexOf('```', docs.indexOf('```json') + 7));
  expect(SensorBands.parse(JSON.parse(example)).bands.cpu.pressed).toEqual([{ above: 0.5, forMs: 1000 }]);
});

test.each([
  ['{"bands":{"luck":{}}}', /luck|Invalid|expected/i],
  ['{', /not JSON/],
  ['{"bands":{"cpu":{"pressed":[{"above":2,"for":"1s"}]}}}', /\S/],
])('bands %s are refused with the reason', async (bands, why) => {
  await expect(readSensorSettings(['--bands', bands], {})).rejects.toThrow(why);
});

describe('the DaemonSet', () => {
  const { spec } = parse(read('config/sensor/daemonset.yaml')).spec.template;
  const [container] = spec.containers;

  test('runs as nobody, without capabilities, and has nothing to write to', () => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65534 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.every(({ readOnly }: { readOnly?: boolean }) => readOnly)).toBe(true);
    expect(spec.automountServiceAccountToken).toBe(false);
  });

  test('sets only what the sensor knows, with values that it takes', async () => {
    const env: Record<string, string> = Object.fromEntries(
      container.env.map(({ name, value = 'n1' }: { name: string; value?: string }) => [name, value]),
    );
    for (const name of Object.keys(env)) expect(variables).toContain(name);
    expect(await readSensorSettings([], env)).toHaveProperty('settings.healthPort', 9101);
  });

  test('starts Node.js with what is measured, as the image does', () => {
    const [, command = '[]'] = /^CMD (.+)$/m.exec(read('images/sensor.Dockerfile')) ?? [];
    expect(JSON.parse(command)).toEqual([...sensorFlags, 'index.mjs']);
    expect(container.args).toEqual([...sensorFlags, 'index.mjs']);
  });

  test('with eBPF only the container that is gone before may load programs', () => {
    const patch = parse(read('config/sensor-ebpf/loader.yaml')).spec.template.spec;
    expect(patch.initContainers[0].securityContext.capabilities).toEqual({
      drop: ['ALL'],
      add: ['BPF', 'PERFMON', 'NET_ADMIN'],
    });
    expect(patch.containers[0]).not.toHaveProperty('securityContext');
  });
});

describeWith(['promtool'], "alerts on the kubelet's own pressure metrics", () => {
  test('fire for the node that is pressed, and ask for a machine', async () => {
    const folder = newFolder();
    const { groups } = parse(read('config/sensor/kubelet-psi-rules.yaml')).spec;
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups }));
    const series = (metric: string, node: string, step: number) => ({
      series: `container_pressure_${metric}_waiting_seconds_total{id="/",node="${node}"}`,
      values: `0+${step}x40`,
    });
    const alert = (name: string, node: string, what: string, share: string) => ({
      eval_time: '5m',
      alertname: name,
      exp_alerts: [
        {
          exp_labels: { severity: 'info', bamel_scale: 'up', node },
          exp_annotations: {
            summary: `on node ${node} somebody waits for ${what} ${share} of the time`,
            runbook: 'docs/pressure.md#without-the-sensor',
          },
        },
      ],
    });
    const tests = [
      {
        interval: '15s',
        // In 15 s: 12 of them waiting for a cpu on a; 3 on b.
        input_series: [
          series('cpu', 'a', 12),
          series('cpu', 'b', 3),
          series('memory', 'b', 3),
          series('io', 'a', 6),
        ],
        alert_rule_test: [
          alert('BamelNodeCpuPressure', 'a', 'a cpu', '80%'),
          alert('BamelNodeMemoryPressure', 'b', 'memory', '20%'),
          alert('BamelNodeStoragePressure', 'a', 'a disk', '40%'),
        ],
      },
    ];
    await writeFile(
      join(folder, 'test.yaml'),
      stringify({ rule_files: ['rules.yaml'], evaluation_interval: '15s', tests }),
    );
    const { stdout } = await promisify(execFile)('promtool', [
      'test',
      'rules',
      join(folder, 'test.yaml'),
    ]).catch((error: { stdout: string; stderr: string }) => ({ stdout: `${error.stdout}${error.stderr}` }));
    expect(stdout).toMatch(/SUCCESS/);
  });
});
