import { z } from 'zod';
import { durationMs } from '../schema/duration.ts';
import { portNumber, setting } from './setting.ts';

const accounts = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.string().regex(/^[^*]+\*?$/, 'write names such as system:serviceaccount:bamel:*')));

const file = (env: string, flag: string, help: string) =>
  setting({ env, flag, value: 'FILE', help, schema: z.string().optional() });

/** Settings of the HTTP server. */
export const serverSettings = {
  readTokenFile: file(
    'BAMEL_READ_TOKEN_FILE',
    'read-token-file',
    'a read-only secret, for the console, /api and /metrics',
  ),
  tokenAudience: setting({
    env: 'BAMEL_TOKEN_AUDIENCE',
    flag: 'token-audience',
    value: 'NAME',
    help: 'also accept tokens of Kubernetes accounts with this audience',
    schema: z.string().min(1).optional(),
  }),
  callers: setting({
    env: 'BAMEL_CALLERS',
    flag: 'callers',
    value: 'NAMES',
    help: "which accounts those may be, with commas and * at the end; default: those of this process's namespace",
    schema: accounts.optional(),
  }),
  pressureTokenFile: file(
    'BAMEL_PRESSURE_TOKEN_FILE',
    'pressure-token-file',
    'a secret for sensors, which may only send pressure events',
  ),
  pressureCallers: setting({
    env: 'BAMEL_PRESSURE_CALLERS',
    flag: 'pressure-callers',
    value: 'NAMES',
    help: 'accounts that may only do that, with the same audience; default system:serviceaccount:bamel-sensor:bamel-sensor',
    schema: accounts.default(['system:serviceaccount:bamel-sensor:bamel-sensor']),
  }),
  tlsCert: file(
    'BAMEL_TLS_CERT',
    'tls-cert',
    'serve HTTPS with this certificate (PEM), read again while it runs',
  ),
  tlsKey: file('BAMEL_TLS_KEY', 'tls-key', "the certificate's key (PEM)"),
  tlsCa: file('BAMEL_TLS_CA', 'tls-ca', 'only callers with a certificate of this CA (PEM) are answered'),
  sinkTokenFile: setting({
    env: 'BAMEL_SINK_TOKEN_FILE',
    help: 'what events are sent on with, where it is there; as Knative mounts it',
    schema: z.string().default('/oidc/token'),
  }),
  healthPort: setting({
    env: 'BAMEL_HEALTH_PORT',
    flag: 'health-port',
    value: 'NUMBER',
    help: 'serve /health and /metrics here as well, in plain HTTP without authentication; 0 for any free port',
    schema: portNumber.optional(),
  }),
  eventMaxAgeMs: setting({
    env: 'BAMEL_EVENT_MAX_AGE',
    flag: 'event-max-age',
    value: 'DURATION',
    help: 'events older than this are refused, and ids are remembered for as long; default 15m',
    schema: durationMs.refine((ms) => ms >= 1_000, 'write at least 1s').default(900_000),
  }),
  rateLimit: setting({
    env: 'BAMEL_RATE_LIMIT',
    flag: 'rate-limit',
    value: 'NUMBER',
    help: 'requests a second from one caller, twice as many in a burst, 0 for any number; default 1000',
    schema: z
      .string()
      .regex(/^\d{1,9}$/, 'write a whole number')
      .transform(Number)
      .default(1_000),
  }),
};
