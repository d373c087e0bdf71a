import { stringify } from 'yaml';
import { deployed } from '../../apps/host/deployed.ts';
import { events } from '../../shared/ports/event-types.ts';
import { imageOf } from './image.ts';
import { partOf } from './knative/names.ts';
import { scaleOf } from './knative/scale.ts';

/** faas-cli fills it in. */
const fromShell = (name: string, otherwise: string): string => `\${${name}:-${otherwise}}`;

const everyMinute = '* * * * *';

const functionOf = (name: string, isTicked: boolean) => {
  const { timeoutSeconds, concurrency, maxInstances, memory } = scaleOf(name);
  const timeout = `${timeoutSeconds}s`;
  return {
    lang: 'bamel',
    handler: '../dist',
    image: imageOf('openfaas'),
    // of-watchdog would give a function ten seconds.
    environment: {
      BAMEL_FUNCTION: name,
      exec_timeout: timeout,
      read_timeout: timeout,
      write_timeout: timeout,
      max_inflight: String(concurrency),
      BAMEL_STORE: fromShell('BAMEL_STORE', 'etcd://bamel-etcd:2379'),
      BAMEL_CONFIG: fromShell('BAMEL_CONFIG', 'resources:'),
    },
    labels: {
      ...partOf,
      'com.openfaas.scale.zero': 'true',
      'com.openfaas.scale.max': String(maxInstances),
    },
    annotations: {
      'com.openfaas.serviceaccount': `bamel-${name}`,
      // The cron-connector calls it: the tick.
      ...(isTicked && { topic: 'cron-function', schedule: everyMinute }),
    },
    limits: { memory },
    requests: { memory, cpu: '50m' },
    readonly_root_filesystem: true,
  };
};

/** openfaas/stack.yaml: every function behind of-watchdog. */
export const openfaasStack = (): string =>
  `# Generated from functions/index.ts by npm run generate.\n${stringify(
    {
      version: '1.0',
      provider: { name: 'openfaas', gateway: 'http://127.0.0.1:8080' },
      functions: Object.fromEntries(
        deployed.map(({ name, wakesOn }) => [name, functionOf(name, wakesOn.includes(events.tick))]),
      ),
    },
    { lineWidth: 110, aliasDuplicateObjects: false },
  )}`;
