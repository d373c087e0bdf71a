import { hostname } from 'node:os';
import { z } from 'zod';
import { logFormats, logLevels } from '../shared/runtime/log.ts';
import { portNumber, setting, wholeNumber } from '../shared/runtime/setting.ts';
import { readTable, type SettingsOf } from '../shared/runtime/settings.ts';
import { SensorBands } from './options.ts';

const folder = (env: string, flag: string, otherwise: string, help: string) =>
  setting({
    env,
    flag,
    value: 'FOLDER',
    help: `${help}; default ${otherwise}`,
    schema: z.string().default(otherwise),
  });

/** Every setting of the sensor: its environment variable, its flag, what it means. */
const table = {
  sink: setting({
    env: 'K_SINK',
    flag: 'sink',
    value: 'URL',
    help: "where pressure is told: a broker, or a host's /evaluate-scaling; default: only logged",
    schema: z.url({ protocol: /^https?$/, error: 'write an http:// or https:// URL' }).optional(),
  }),
  nodeName: setting({
    env: 'NODE_NAME',
    flag: 'node-name',
    value: 'NAME',
    help: "the Kubernetes node it runs on; default: the machine's host name",
    schema: z
      .string()
      .min(1)
      .default(() => hostname()),
  }),
  tokenFile: setting({
    env: 'BAMEL_TOKEN_FILE',
    flag: 'token-file',
    value: 'FILE',
    help: 'the secret that the sink wants, read again for every event',
    schema: z.string().optional(),
  }),
  proc: folder('BAMEL_SENSOR_PROC', 'proc', '/proc', 'procfs of the node, with all its processes'),
  sys: folder('BAMEL_SENSOR_SYS', 'sys', '/sys', 'sysfs of the node'),
  bpf: folder('BAMEL_SENSOR_BPF', 'bpf', '/sys/fs/bpf/bamel', 'what the eBPF loader pinned, where it ran'),
  disk: setting({
    env: 'BAMEL_SENSOR_DISK',
    flag: 'disk',
    value: 'FOLDER',
    help: "on the file system that pods write to, such as the kubelet's; default: not sensed",
    schema: z.string().optional(),
  }),
  interfaces: setting({
    env: 'BAMEL_SENSOR_INTERFACES',
    flag: 'interfaces',
    value: 'NAMES',
    help: 'network interfaces that count, with commas; default: those with a device',
    schema: z
      .string()
      .transform((text) => text.split(',').map((name) => name.trim()))
      .optional(),
  }),
  megabits: setting({
    env: 'BAMEL_SENSOR_MEGABITS',
    flag: 'megabits',
    value: 'NUMBER',
    help: 'what they carry a second, each way; default: what they say themselves',
    schema: wholeNumber.pipe(z.int().positive()).optional(),
  }),
  bands: setting({
    env: 'BAMEL_SENSOR_BANDS',
    flag: 'bands',
    value: 'JSON',
    help: 'where bands begin and end, as {"bands":{"cpu":{"pressed":[{"above":0.6,"for":"250ms"}]}},"clear":{"below":0.6,"for":"2s"}}',
    schema: z
      .string()
      .default('{}')
      .transform((text, context): unknown => {
        try {
          return JSON.parse(text);
        } catch (error) {
          context.addIssue(`not JSON: ${(error as Error).message}`);
          return z.NEVER;
        }
      })
      .pipe(SensorBands),
  }),
  host: setting({
    env: 'BAMEL_HOST',
    flag: 'host',
    value: 'ADDRESS',
    help: 'address to serve /health and /metrics on; default 127.0.0.1',
    schema: z.string().default('127.0.0.1'),
  }),
  healthPort: setting({
    env: 'BAMEL_HEALTH_PORT',
    flag: 'health-port',
    value: 'NUMBER',
    help: 'serve /health and /metrics here, in plain HTTP and to anybody; 0 for any free port; default: not at all',
    schema: portNumber.optional(),
  }),
  caCerts: setting({
    env: 'K_CA_CERTS',
    help: 'certificates (PEM) to trust when sending events, as Knative hands them over',
    schema: z.string().optional(),
  }),
  logLevel: setting({
    env: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    help: `${logLevels.join(' · ')}; default info`,
    schema: z.enum(logLevels).default('info'),
  }),
  logFormat: setting({
    env: 'LOG_FORMAT',
    flag: 'log-format',
    value: 'FORMAT',
    help: `${logFormats.join(' · ')}; default json`,
    schema: z.enum(logFormats).default('json'),
  }),
};

export type SensorSettings = SettingsOf<typeof table>;

export const readSensorSettings = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  readTable(table, args, env);
