import { createHash } from 'node:crypto';
import {
  afterFailure,
  type BmcFailures,
  maxFailures,
  refusedPauseMs,
} from '../../shared/core/machine/circuit-breaker.ts';
import type { MachineSpec, MachineStatus } from '../../shared/core/machine/machine.ts';
import type { Timings } from '../../shared/core/settings.ts';
import { seconds } from '../../shared/core/text.ts';
import type { PowerError } from '../../shared/ports/power.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { refusedByProvider } from '../../shared/state/providers.ts';
import type { Deps } from '../deps.ts';

/** Failing BMCs, in the memory of this process; a success removes the entry. */
export interface CircuitBreaker {
  /**
   * Why the BMC must not be called now, and for how long. Undefined: it may be called; after a pause only one
   * caller may.
   */
  blocked(spec: MachineSpec, timings: Timings): { readonly why: string; readonly ms: number } | undefined;
  answered(spec: MachineSpec): void;
  failed(spec: MachineSpec, error: PowerError, timings: Timings): void;
  /** Stored with the machine, so that no other process tries the same credentials. */
  refused(record: MachineRecord, message: string): Promise<NonNullable<MachineStatus['refused']>>;
  /** The message of a refusal that still holds: spec and Secret are unchanged and the pause is not over. */
  stillRefused(record: MachineRecord): Promise<string | undefined>;
}

/** Several machines may share a BMC or a PDU. */
const addressOf = ({ mgmtAddress, name }: MachineSpec): string => mgmtAddress ?? name;

/** Compared only in this process: the store gets nothing that a password could be guessed from. */
export async function secretDigest(
  credentials: Deps['credentials'],
  { bmcCredentials }: MachineSpec,
): Promise<string | undefined> {
  if (bmcCredentials === undefined || !credentials) return undefined;
  const text = await credentials(bmcCredentials).then(JSON.stringify, () => 'not there');
  return createHash('sha256').update(text).digest('base64');
}

export function createCircuitBreaker({ clock, log, credentials, metrics, inventory }: Deps): CircuitBreaker {
  const failing = new Map<string, BmcFailures>();
  const count = (): void =>
    metrics?.bmcsPaused.set([...failing.values()].filter(({ failures }) => failures >= maxFailures).length);
  const secrets = new Map<string, string>();
  const secretOf = (spec: MachineSpec): Promise<string | undefined> => secretDigest(credentials, spec);

  return {
    blocked(spec, { bmcTimeoutMs }) {
      const trouble = failing.get(addressOf(spec));
      if (!trouble) return undefined;
      const ms = trouble.until - clock.monotonic();
      if (ms > 0) return { why: trouble.why, ms };
      if (trouble.failures >= maxFailures)
        failing.set(addressOf(spec), { ...trouble, until: clock.monotonic() + bmcTimeoutMs });
      return undefined;
    },
    answered(spec) {
      const trouble = failing.get(addressOf(spec));
      if (!trouble) return;
      failing.delete(addressOf(spec));
      count();
      if (trouble.failures >= maxFailures)
        log.info({ step: 'power', machine: spec.name, text: 'its BMC answers again' }, 'BMC answers again');
    },
    failed(spec, { code, message, retryAfterMs }, { readEveryMs }) {
      const isAway = code === 'timeout' || code === 'unreachable';
      if (!isAway && retryAfterMs === undefined) return;
      const now = clock.monotonic();
      const call = { isAway, retryAfterMs, message };
      const trouble = afterFailure(failing.get(addressOf(spec)), call, readEveryMs, now);
      failing.set(addressOf(spec), trouble);
      count();
      if (trouble.failures === maxFailures)
        log.warn(
          {
            step: 'power',
            machine: spec.name,
            failures: trouble.failures,
            text: `${message}. Not called for ${seconds(trouble.until - now)}, then with growing pauses`,
          },
          'BMC calls paused',
        );
    },
    async refused({ spec, revisions }, message) {
      const secret = await secretOf(spec);
      if (secret !== undefined) secrets.set(spec.name, secret);
      return { until: clock.now() + refusedPauseMs, spec: revisions.spec, message };
    },
    async stillRefused({ spec, status: { refused }, revisions }) {
      const ofProvider = spec.made && (await refusedByProvider(inventory.store, spec.pool, clock.now()));
      if (ofProvider) return ofProvider;
      if (!refused) {
        secrets.delete(spec.name);
        return undefined;
      }
      if (refused.spec !== revisions.spec || refused.until <= clock.now()) return undefined;
      const tried = secrets.get(spec.name);
      return tried === undefined || tried === (await secretOf(spec)) ? refused.message : undefined;
    },
  };
}
