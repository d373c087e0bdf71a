import { readSensorSettings } from '../../sensor/settings.ts';
import { readSettings } from '../../shared/process/settings.ts';

/** The table of --help, whose columns are apart by two spaces at least. */
const table = (read: { readonly help: string } | object): string =>
  [
    '| flag | environment | meaning |',
    '| --- | --- | --- |',
    ...('help' in read ? String(read.help) : '')
      .split('\n')
      .filter((line) => line.startsWith('  --'))
      .map((line) => line.trim().split(/ {2,}/))
      .map(([flag, env, meaning]) => `| \`${flag}\` | \`${env}\` | ${meaning} |`),
  ].join('\n');

const sensor = table(await readSensorSettings(['--help'], {}));

/** docs/settings.md: every setting of a process, as --help has them. */
export const settingsPage =
  (): string => `<!-- Generated from shared/process/settings.ts and sensor/settings.ts by npm run generate. -->

# Settings

How a process runs. What it scales is in [the configuration](configuration.md). Every setting is a flag (\`npm start -- --port 9000\`) or an environment variable; the flag wins. A mistake ends the process with exit code 2.

## Host and functions

${table(readSettings(['--help'], {}))}

Without a flag: \`K_CE_OVERRIDES\` and \`K_CA_CERTS\`, which Knative sets; \`BAMEL_SINK_TOKEN_FILE\`, the token for \`K_SINK\` (default \`/oidc/token\`); \`BAMEL_FUNCTION\`, the function that a container runs; \`BAMEL_FAILPOINT\`, for tests, which kills the process at [a failpoint](architecture.md#failpoints).

\`--sink\` applies to a function in its own process. In the host, events stay in the process. \`--tick\` applies to the host only.

## Sensor

${sensor}
`;
