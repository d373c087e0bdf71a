import { pauseAfterCheck, pauseAfterMaking } from '../../shared/core/limits/provider-state.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { madeShelves } from '../../shared/core/scale-up/on-demand.ts';
import type { PoolSpec, Timings } from '../../shared/core/settings.ts';
import { events } from '../../shared/ports/event-types.ts';
import { PowerError } from '../../shared/ports/power.ts';
import {
  type ProviderRecord,
  readProviders,
  type StoredProvider,
  writeProvider,
} from '../../shared/state/providers.ts';
import type { Deps } from '../deps.ts';
import { secretDigest } from './circuit-breaker.ts';

type Failure = Pick<PowerError, 'code' | 'message'>;

/** Providers that make machines on demand: checked before the first machine, and left alone as a whole when they refuse. */
export interface Providers {
  /** Checks options, credentials and access where that is due. */
  check(pools: readonly PoolSpec[], timings: Timings, signal: AbortSignal): Promise<void>;
  /** Why the provider is not asked for a machine now. */
  blocked(spec: MachineSpec): Promise<PowerError | undefined>;
  /** A machine could not be made. */
  failed(spec: MachineSpec, failure: Failure, timings: Timings): Promise<void>;
  made(spec: MachineSpec): Promise<void>;
}

/** Slices have their own rule: their offers are left alone. */
const isMade = ({ made, offer }: MachineSpec): boolean => made === true && offer === undefined;

export function createProviders(deps: Deps): Providers {
  const { clock, log, inventory, credentials } = deps;
  const { store } = inventory;
  /** Of the credentials that were refused, in the memory of this process. */
  const refusedSecrets = new Map<string, string | undefined>();

  const stateOf = async (pool: string): Promise<ProviderRecord | undefined> =>
    (await readProviders(store, pool))[0];

  const isDue = async (record: ProviderRecord, spec: MachineSpec): Promise<boolean> => {
    if (record.checked) return false;
    if (!record.problem || record.problem.until <= clock.now()) return true;
    const tried = refusedSecrets.get(record.pool);
    return tried !== undefined && tried !== (await secretDigest(credentials, spec));
  };

  const backOff = async (
    record: ProviderRecord,
    spec: MachineSpec,
    { code, message }: Failure,
    pauseMs: (failures: number) => number,
    checked: number | undefined,
  ): Promise<void> => {
    const { pool, config, problem } = record;
    const text = message.replaceAll(`${spec.name}: `, '');
    const isNews = problem?.message !== text;
    const failures = (problem?.failures ?? 0) + 1;
    const now = clock.now();
    if (code === 'auth') refusedSecrets.set(pool, await secretDigest(credentials, spec));
    const until = now + pauseMs(failures);
    // Of a mistake that is looked for at every tick nothing new is written.
    if (!isNews && until <= now) return;
    const since = problem?.since ?? now;
    const stored: StoredProvider = {
      checked,
      problem: { code, message: text, since, until, failures, config },
    };
    if (!(await writeProvider(store, record, stored)) || !isNews) return;
    log.warn(
      {
        step: 'power',
        pool,
        code,
        until: new Date(until).toISOString(),
        text: `${pool} makes no machines: ${text}`,
      },
      'provider backed off',
    );
  };
  const recover = async (record: ProviderRecord, checked: number | undefined): Promise<void> => {
    const { pool, problem } = record;
    refusedSecrets.delete(pool);
    if (!(await writeProvider(store, record, { checked })) || !problem) return;
    log.info({ step: 'power', pool, text: `${pool} makes machines again` }, 'provider is available again');
  };

  return {
    async check(pools, timings, signal) {
      const making = madeShelves(pools, new Set(), clock.now()).map(({ example }) => example.spec);
      if (making.length === 0) return;
      const known = new Map((await readProviders(store)).map((record) => [record.pool, record]));
      for (const spec of making) {
        const record = known.get(spec.pool);
        if (!record || !(await isDue(record, spec)) || signal.aborted) continue;
        try {
          const driver = await deps.driverFor(spec);
          await driver.read(AbortSignal.any([signal, AbortSignal.timeout(timings.bmcTimeoutMs)]));
        } catch (error) {
          if (!(error instanceof PowerError)) throw error;
          if (signal.aborted) return;
          const pause = (failures: number): number => pauseAfterCheck(error.code, failures, timings);
          await backOff(record, spec, error, pause, undefined);
          continue;
        }
        await recover(record, record.config);
        await deps.sink.emit({ type: events.providerChecked, subject: spec.pool, data: {} });
      }
    },
    async blocked(spec) {
      const record = isMade(spec) ? await stateOf(spec.pool) : undefined;
      if (!record?.problem || (record.checked && record.problem.until <= clock.now())) return undefined;
      return new PowerError(record.problem.code as PowerError['code'], record.problem.message);
    },
    async failed(spec, failure, timings) {
      const record = isMade(spec) ? await stateOf(spec.pool) : undefined;
      if (!record || (record.problem && record.problem.until > clock.now())) return;
      const pause = (failures: number): number => pauseAfterMaking(failure.code, failures, timings);
      // Credentials that were refused are checked again before anything else is tried with them.
      const checked = failure.code === 'auth' ? undefined : record.stored.checked;
      await backOff(record, spec, failure, pause, checked);
    },
    async made(spec) {
      const record = isMade(spec) ? await stateOf(spec.pool) : undefined;
      if (record?.problem) await recover(record, record.stored.checked);
    },
  };
}
