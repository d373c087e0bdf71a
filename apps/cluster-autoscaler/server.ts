import {
  experimental,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
} from '@grpc/grpc-js';
import type { Provider } from './change.ts';
import { openMirror } from './mirror.ts';
import { resume } from './resize.ts';
import { RpcError, toRpcError } from './rpc-error.ts';
import { createService, type ServiceOptions } from './service.ts';
import { healthService, type Method, methods, providerService } from './wire.ts';

export interface ProviderOptions extends Partial<ServiceOptions> {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Files in PEM, read again while it runs. With `ca` only callers with a certificate of that CA are answered. */
  readonly tls?:
    | {
        readonly cert: string;
        readonly key: string;
        readonly ca?: string | undefined;
        readonly refreshMs?: number;
      }
    | undefined;
  /** A watch that has been silent for longer is not believed. */
  readonly staleAfterMs?: number;
}

export interface RunningProvider {
  readonly port: number;
  close(): Promise<void>;
}

const defaults = { staleAfterMs: 10_000, refreshMs: 5_000, messageBytes: 2 ** 20, streams: 1_000 } as const;
const serving = { yes: 1, no: 2 } as const;

/** The stock Cluster Autoscaler's externalgrpc provider over the store. Keeps nothing of record: run several. */
export async function startProvider(
  deps: Omit<Provider, 'mirror'>,
  options: ProviderOptions,
): Promise<RunningProvider> {
  const { inventory, clock, log, owner } = deps;
  const { staleAfterMs = defaults.staleAfterMs, tls } = options;
  const mirror = await openMirror(inventory.store, clock);
  const provider: Provider = { ...deps, mirror };
  const service = createService(provider, { options: options.options ?? false, kWhPrice: options.kWhPrice });
  const isStale = (): boolean => mirror.silentMs() > staleAfterMs;

  const server = new Server({
    'grpc.max_receive_message_length': defaults.messageBytes,
    'grpc.max_concurrent_streams': defaults.streams,
  });
  const answer =
    (method: Method): handleUnaryCall<unknown, object> =>
    (call, reply) => {
      const { signal, done } = patienceOf(call);
      const work = async (): Promise<object> => {
        if (isStale())
          throw new RpcError(
            status.UNAVAILABLE,
            `nothing has been heard from the store for ${Math.round(mirror.silentMs() / 1_000)} s`,
          );
        return service[method](call.request as never, signal);
      };
      work()
        .then(
          (response) => reply(null, response),
          (error: unknown) => {
            const known = toRpcError(error);
            if (known) log.info({ method, code: status[known.code], why: known.message }, 'refused');
            else log.error({ err: error, method }, 'a call failed');
            reply(known ?? { code: status.INTERNAL, message: 'a mistake of ours: see the log' });
          },
        )
        .finally(done);
    };
  server.addService(providerService, Object.fromEntries(methods.map((method) => [method, answer(method)])));
  server.addService(healthService, {
    Check: ((_call, reply) =>
      reply(null, { status: isStale() ? serving.no : serving.yes })) satisfies handleUnaryCall<
      object,
      object
    >,
  });

  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${options.host}:${options.port}`, credentialsFor(tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const stopping = new AbortController();
  const { signal } = stopping;
  const attending = (async () => {
    while (!signal.aborted) {
      try {
        // Leases are under the watch too: taking one makes it speak, where nothing else does.
        if (mirror.silentMs() > staleAfterMs / 4)
          await (await inventory.store.acquire(`watch-${owner}`, staleAfterMs, owner))?.release();
        if (!isStale()) await resume(provider, signal);
      } catch (error) {
        log.warn({ err: error }, 'the store does not answer');
      }
      await clock.sleep(staleAfterMs / 5, signal);
    }
  })();
  return {
    port,
    async close() {
      stopping.abort();
      await attending;
      await new Promise<void>((resolve) => {
        // A caller that never hangs up must not keep us.
        const force = setTimeout(() => server.forceShutdown(), 2_000);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      });
      await mirror.close();
    },
  };
}

/** Aborts when the caller cancels, or at its deadline. */
function patienceOf(call: ServerUnaryCall<unknown, object>): { signal: AbortSignal; done: () => void } {
  const patience = new AbortController();
  const abort = (): void => patience.abort();
  call.on('cancelled', abort);
  const left = Number(call.getDeadline()) - Date.now();
  const timer = Number.isFinite(left) ? setTimeout(abort, Math.max(0, left)) : undefined;
  return {
    signal: patience.signal,
    done() {
      clearTimeout(timer);
      call.off('cancelled', abort);
    },
  };
}

function credentialsFor(tls: ProviderOptions['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const files = new experimental.FileWatcherCertificateProvider({
    certificateFile: tls.cert,
    privateKeyFile: tls.key,
    caCertificateFile: tls.ca,
    refreshIntervalMs: tls.refreshMs ?? defaults.refreshMs,
  });
  return experimental.createCertificateProviderServerCredentials(
    files,
    tls.ca ? files : null,
    tls.ca !== undefined,
  );
}
