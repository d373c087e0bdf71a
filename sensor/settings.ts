import { hostname } from 'node:os';
import { type FlagRow, helpText, readFlags, SettingsError } from '../shared/process/flags.ts';
import { defaultBands, type SensorBands } from './default-bands.ts';
import { logLevels } from './log.ts';

/** Read by hand: what reads the functions' settings takes as much memory as all that the sensor remembers. */
interface Row<Value> extends FlagRow {
  /** Throws with what to write instead. */
  read(text: string | undefined): Value;
}

const row = <Value>(one: Row<Value>): Row<Value> => one;
const asIs = (text: string | undefined): string | undefined => text;

const folder = (env: string, flag: string, otherwise: string, help: string) =>
  row({
    env,
    flag,
    value: 'FOLDER',
    help: `${help}; default ${otherwise}`,
    read: (text) => text ?? otherwise,
  });

/** Every setting of the sensor: its environment variable, its flag, what it means. */
const table = {
  sink: row({
    env: 'K_SINK',
    flag: 'sink',
    value: 'URL',
    help: "where pressure events go: a broker, or a host's /evaluate-scaling; default: only logged",
    read(text) {
      if (text === undefined || (/^https?:/i.test(text) && URL.canParse(text))) return text;
      throw new Error('write an http:// or https:// URL');
    },
  }),
  nodeName: row({
    env: 'NODE_NAME',
    flag: 'node-name',
    value: 'NAME',
    help: "the Kubernetes node it runs on; default: the machine's host name",
    read: (text) => text ?? hostname(),
  }),
  tokenFile: row({
    env: 'BAMEL_TOKEN_FILE',
    flag: 'token-file',
    value: 'FILE',
    help: 'the secret for the sink, read again for every event',
    read: asIs,
  }),
  proc: folder('BAMEL_SENSOR_PROC', 'proc', '/proc', 'procfs of the node, with all its processes'),
  sys: folder('BAMEL_SENSOR_SYS', 'sys', '/sys', 'sysfs of the node'),
  bpf: folder('BAMEL_SENSOR_BPF', 'bpf', '/sys/fs/bpf/bamel', 'what the eBPF loader pinned, where it ran'),
  disk: row({
    env: 'BAMEL_SENSOR_DISK',
    flag: 'disk',
    value: 'FOLDER',
    help: "on the file system that pods write to, such as the kubelet's; default: not sensed",
    read: asIs,
  }),
  interfaces: row({
    env: 'BAMEL_SENSOR_INTERFACES',
    flag: 'interfaces',
    value: 'NAMES',
    help: 'network interfaces that count, with commas; default: those with a device',
    read: (text) => text?.split(',').map((name) => name.trim()),
  }),
  megabits: row({
    env: 'BAMEL_SENSOR_MEGABITS',
    flag: 'megabits',
    value: 'NUMBER',
    help: 'what they carry a second, each way; default: what they say themselves',
    read: (text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER),
  }),
  bands: row({
    env: 'BAMEL_SENSOR_BANDS',
    flag: 'bands',
    value: 'JSON',
    help: 'where bands begin and end, as {"bands":{"cpu":{"pressed":[{"above":0.6,"for":"250ms"}]}},"clear":{"below":0.6,"for":"2s"}}',
    read: asIs,
  }),
  host: row({
    env: 'BAMEL_HOST',
    flag: 'host',
    value: 'ADDRESS',
    help: 'address to serve /health and /metrics on; default 127.0.0.1',
    read: (text) => text ?? '127.0.0.1',
  }),
  healthPort: row({
    env: 'BAMEL_HEALTH_PORT',
    flag: 'health-port',
    value: 'NUMBER',
    help: 'serve /health and /metrics here, in plain HTTP without authentication; 0 for any free port; default: not at all',
    read: (text) => wholeNumber(text, 0, 65_535),
  }),
  caCerts: row({
    env: 'K_CA_CERTS',
    help: 'certificates (PEM) to trust when sending events, as Knative hands them over',
    read: asIs,
  }),
  logLevel: row({
    env: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    help: `${logLevels.join(' · ')}; default info`,
    read(text = 'info') {
      const level = logLevels.find((one) => one === text);
      if (level === undefined) throw new Error(`write one of ${logLevels.join(', ')}`);
      return level;
    },
  }),
};

type Table = typeof table;
export type SensorSettings = Readonly<
  { [Name in keyof Omit<Table, 'bands'>]: ReturnType<Table[Name]['read']> } & { bands: SensorBands }
>;

/** From flags, then the environment, then defaults. `help` is the text to print instead of starting. */
export async function readSensorSettings(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly help: string } | { readonly settings: SensorSettings }> {
  const rows = Object.entries<Row<unknown>>(table);
  const flags = readFlags(
    args,
    rows.map(([, one]) => one),
  );
  if (flags.has('help')) return { help: helpText(rows.map(([, one]) => one)) };
  const settings: Record<string, unknown> = {};
  for (const [name, { flag, env: variable, read }] of rows) {
    const given = flag === undefined ? undefined : flags.get(flag);
    try {
      const value = read(given ?? (env[variable] || undefined));
      settings[name] = name === 'bands' ? await readBands(value) : value;
    } catch (error) {
      throw new SettingsError(`${given === undefined ? variable : `--${flag}`}: ${(error as Error).message}`);
    }
  }
  return { settings: settings as SensorSettings };
}

/** Checking what people write takes zod, which is loaded for those who do. */
async function readBands(text: unknown): Promise<SensorBands> {
  if (typeof text !== 'string') return defaultBands;
  const { parseBands } = await import('./options.ts');
  return parseBands(text);
}

function wholeNumber(text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error('write a whole number');
  const number = Number(text);
  if (number < least || number > most)
    throw new Error(
      `write a number from ${least}${most === Number.MAX_SAFE_INTEGER ? ' on' : ` to ${most}`}`,
    );
  return number;
}
