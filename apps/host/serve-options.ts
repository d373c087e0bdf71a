import { existsSync } from 'node:fs';
import type { Deps } from '../../functions/deps.ts';
import type { KubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { events } from '../../shared/ports/event-types.ts';
import { SettingsError } from '../../shared/process/flags.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import { type TokenSource, tokenFromFile } from '../../shared/server/authenticate.ts';
import type { ServeOptions } from '../../shared/server/serve.ts';
import type { TlsFiles } from '../../shared/server/tls-files.ts';
import { kubeTokenReview } from '../../shared/server/token-review.ts';
import { createSeenEvents } from '../../shared/state/seen-events.ts';
import { servingOptions } from './process.ts';

export type Doorway = Omit<ServeOptions, 'log' | 'metrics' | 'ready' | 'collect' | 'routes'>;

/** Server options from the settings: address, authentication and limits. */
export function serverOptionsOf(
  settings: ProcessSettings,
  { inventory, clock, log }: Pick<Deps, 'inventory' | 'clock' | 'log'>,
  transport: KubeTransport,
): { readonly doorway: Doorway; close(): Promise<void> } {
  const { readTokenFile, tokenAudience, callers, healthPort, eventMaxAgeMs, rateLimit } = settings;
  const { pressureTokenFile, pressureCallers } = settings;
  const seen = createSeenEvents(inventory.store, clock, eventMaxAgeMs);
  return {
    doorway: {
      ...servingOptions(settings),
      readToken: readTokenFile === undefined ? undefined : tokenFromFile(readTokenFile),
      review:
        tokenAudience === undefined
          ? undefined
          : kubeTokenReview(transport, {
              audience: tokenAudience,
              callers,
              reporters: pressureCallers,
              clock,
              log,
            }),
      reporters: {
        token: pressureTokenFile === undefined ? undefined : tokenFromFile(pressureTokenFile),
        accounts: pressureCallers,
        event: events.pressureChanged,
        // A function that is alone answers on / too.
        paths: ['/evaluate-scaling', '/'],
      },
      tls: tlsOf(settings),
      healthPort,
      events: { maxAgeMs: eventMaxAgeMs, seen, clock },
      rateLimit: rateLimit === 0 ? undefined : { perSecond: rateLimit, burst: 2 * rateLimit },
    },
    close: () => seen.close(),
  };
}

/** The token for a broker: Knative puts it beside K_SINK. Otherwise our own callers' secret. */
export function sinkToken({ sinkTokenFile, tokenFile }: ProcessSettings): TokenSource | undefined {
  if (existsSync(sinkTokenFile)) return tokenFromFile(sinkTokenFile);
  return tokenFile === undefined ? undefined : tokenFromFile(tokenFile);
}

function tlsOf({ tlsCert: cert, tlsKey: key, tlsCa: ca }: ProcessSettings): TlsFiles | undefined {
  if (cert !== undefined && key !== undefined) return { cert, key, ca };
  if (cert !== undefined || key !== undefined)
    throw new SettingsError('--tls-cert and --tls-key belong together: give both');
  if (ca !== undefined) throw new SettingsError('--tls-ca needs --tls-cert and --tls-key');
  return undefined;
}
