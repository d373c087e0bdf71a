import { z } from 'zod';
import { durationMs } from '../schema/duration.ts';
import { demoSettings } from './demo-settings.ts';
import { helpText, readFlags, SettingsError } from './flags.ts';
import { logFormats, logLevels } from './log.ts';
import { serverSettings } from './serve-settings.ts';
import { portNumber, type Setting, setting } from './setting.ts';

const httpUrl = z.url({ protocol: /^https?$/, error: 'write an http:// or https:// URL' });

/** Every process setting: its environment variable, its flag, what it means. The help is made from it. */
const table = {
  config: setting({
    env: 'BAMEL_CONFIG',
    flag: 'config',
    value: 'FILE',
    help: 'the YAML file with pools and machines; or configmap:NAMESPACE/NAME; or resources: (custom resources)',
    schema: z.string().optional(),
  }),
  store: setting({
    env: 'BAMEL_STORE',
    flag: 'store',
    value: 'URL',
    help: 'embedded: (memory) · embedded:path/to/file · etcd://host:2379,host:2379; default embedded:',
    schema: z
      .string()
      .regex(/^(embedded:|etcds?:\/\/.)/, 'write embedded:, embedded:path/to/file or etcd://host:2379')
      .default('embedded:'),
  }),
  kubeconfig: setting({
    env: 'KUBECONFIG',
    flag: 'kubeconfig',
    value: 'FILE',
    help: "how to reach Kubernetes; default: the pod's own service account, then ~/.kube/config",
    schema: z.string().optional(),
  }),
  nodeName: setting({
    env: 'NODE_NAME',
    flag: 'node-name',
    value: 'NAME',
    help: 'the node this process runs on, which is never powered off; in a pod: its spec.nodeName',
    schema: z.string().min(1).optional(),
  }),
  credentialsDir: setting({
    env: 'BAMEL_CREDENTIALS_DIR',
    flag: 'credentials-dir',
    value: 'FOLDER',
    help: 'BMC credentials: a sub-folder per name with the files username and password',
    schema: z.string().optional(),
  }),
  allowedNetworks: setting({
    env: 'BAMEL_ALLOWED_NETWORKS',
    flag: 'allowed-networks',
    value: 'CIDRS',
    help: 'where BMCs may be, with commas: 10.0.8.0/24,fd12::/64; default: private networks, and loopback while listening there',
    schema: z
      .string()
      .transform((text) => text.split(',').map((network) => network.trim()))
      .pipe(
        z.array(z.union([z.cidrv4(), z.cidrv6()], 'write networks such as 10.0.8.0/24, with commas')).min(1),
      )
      .optional(),
  }),
  port: setting({
    env: 'PORT',
    flag: 'port',
    value: 'NUMBER',
    help: 'HTTP port, 0 for any free one; default 8080',
    schema: portNumber.default(8080),
  }),
  host: setting({
    env: 'BAMEL_HOST',
    flag: 'host',
    value: 'ADDRESS',
    help: 'address to listen on; anything but loopback needs a token; default 127.0.0.1',
    schema: z.string().default('127.0.0.1'),
  }),
  sink: setting({
    env: 'K_SINK',
    flag: 'sink',
    value: 'URL',
    help: 'where follow-up events go; default: to the functions of this process',
    schema: httpUrl.optional(),
  }),
  tokenFile: setting({
    env: 'BAMEL_TOKEN_FILE',
    flag: 'token-file',
    value: 'FILE',
    help: "the callers' secret, one per line while it is being changed; read again for every request",
    schema: z.string().optional(),
  }),
  insecure: setting({
    env: 'BAMEL_INSECURE',
    flag: 'insecure',
    help: 'listen beyond loopback without a token: only where the network itself is trusted',
    schema: z
      .enum(['true', 'false', '1', '0'])
      .transform((text) => text === 'true' || text === '1')
      .default(false),
  }),
  ...serverSettings,
  grpcPort: setting({
    env: 'BAMEL_GRPC_PORT',
    flag: 'grpc-port',
    value: 'NUMBER',
    help: 'serve the stock Cluster Autoscaler (externalgrpc) here, 0 for any free port; default: not at all',
    schema: portNumber.optional(),
  }),
  grpcCert: setting({
    env: 'BAMEL_GRPC_CERT',
    flag: 'grpc-cert',
    value: 'FILE',
    help: 'its certificate (PEM), read again while it runs',
    schema: z.string().optional(),
  }),
  grpcKey: setting({
    env: 'BAMEL_GRPC_KEY',
    flag: 'grpc-key',
    value: 'FILE',
    help: "the certificate's key (PEM)",
    schema: z.string().optional(),
  }),
  grpcCa: setting({
    env: 'BAMEL_GRPC_CA',
    flag: 'grpc-ca',
    value: 'FILE',
    help: 'only callers with a certificate of this CA (PEM) are answered; needed beyond loopback',
    schema: z.string().optional(),
  }),
  grpcOptions: setting({
    env: 'BAMEL_GRPC_OPTIONS',
    flag: 'grpc-options',
    help: 'answer NodeGroupGetOptions with the defaults it is asked with, instead of not at all',
    schema: z
      .enum(['true', 'false', '1', '0'])
      .transform((text) => text === 'true' || text === '1')
      .optional(),
  }),
  prometheusUrl: setting({
    env: 'BAMEL_PROMETHEUS_URL',
    flag: 'prometheus-url',
    value: 'URL',
    help: "where pools' triggers are asked for: Prometheus, or what answers like it; in the allowed networks",
    schema: httpUrl
      .refine(
        (url) => !/\/\/[^/]*@/.test(url),
        'has a user or password in it: use BAMEL_PROMETHEUS_TOKEN_FILE',
      )
      .optional(),
  }),
  prometheusTokenFile: setting({
    env: 'BAMEL_PROMETHEUS_TOKEN_FILE',
    flag: 'prometheus-token-file',
    value: 'FILE',
    help: 'its bearer token, read again for every query',
    schema: z.string().optional(),
  }),
  prometheusCa: setting({
    env: 'BAMEL_PROMETHEUS_CA',
    flag: 'prometheus-ca',
    value: 'FILE',
    help: "the CA of its certificate (PEM), read again for every query; default: the system's",
    schema: z.string().optional(),
  }),
  kWhPrice: setting({
    env: 'BAMEL_KWH_PRICE',
    flag: 'kwh-price',
    value: 'MONEY',
    help: 'what a kWh costs: the price of machines with watts and no hourlyRate',
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'write a number such as 0.30')
      .transform(Number)
      .optional(),
  }),
  tickMs: setting({
    env: 'BAMEL_TICK',
    flag: 'tick',
    value: 'DURATION',
    help: 'how often everything is evaluated, even without events; default 10s',
    schema: durationMs.refine((ms) => ms >= 100, 'write at least 100ms').default(10_000),
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
    help: `${logFormats.join(' · ')}; default story on a terminal, json elsewhere`,
    schema: z.enum(logFormats).optional(),
  }),
  ...demoSettings,
  failpoint: setting({
    env: 'BAMEL_FAILPOINT',
    help: 'where to crash, for tests',
    schema: z.string().optional(),
  }),
  ceOverrides: setting({
    env: 'K_CE_OVERRIDES',
    help: 'extensions for outgoing events as Knative hands them over',
    schema: z
      .string()
      .transform(jsonOr)
      .pipe(z.object({ extensions: z.record(z.string().regex(/^[a-z0-9]+$/), z.string()).default({}) }))
      .optional(),
  }),
  caCerts: setting({
    env: 'K_CA_CERTS',
    help: 'certificates (PEM) to trust when sending events, as Knative hands them over',
    schema: z.string().optional(),
  }),
};

export type ProcessSettings = SettingsOf<typeof table>;

/** From flags, then the environment, then defaults. `help` is the text to print instead of starting. */
export const readSettings = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly help: string } | { readonly settings: ProcessSettings } => readTable(table, args, env);

type SettingsTable = Readonly<Record<string, Setting>>;
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: z.output<Table[Name]['schema']>;
};

/** The same for a process with a table of its own. */
function readTable<Table extends SettingsTable>(
  table: Table,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly help: string } | { readonly settings: SettingsOf<Table> } {
  const rows = Object.values<Setting>(table);
  const flags = readFlags(args, rows);
  if (flags.has('help')) return { help: helpText(rows) };
  const settings = Object.fromEntries(
    Object.entries<Setting>(table).map(([name, row]) => {
      const given = row.flag && flags.has(row.flag) ? `--${row.flag}` : row.env;
      const parsed = row.schema.safeParse((row.flag && flags.get(row.flag)) ?? (env[row.env] || undefined));
      if (!parsed.success) throw new SettingsError(`${given}: ${parsed.error.issues[0]?.message}`);
      return [name, parsed.data];
    }),
  );
  return { settings: settings as SettingsOf<Table> };
}

function jsonOr(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue(`not JSON: ${(error as Error).message}`);
    return z.NEVER;
  }
}
