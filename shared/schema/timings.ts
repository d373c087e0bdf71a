import { z } from 'zod';
import { defaultTimings, type Timings } from '../core/settings.ts';
import { durationMs } from './duration.ts';

const meanings: Readonly<Record<keyof Timings, string>> = {
  bmcTimeoutMs:
    "a BMC call that has not answered by then leaves the power unknown. A machine's lease lasts three times as long",
  readEveryMs: 'how often the BMC is read while a power change is awaited',
  sweepEveryMs: 'how often the BMC of a machine at rest is read',
  commandEveryMs: 'a BMC gets at most one command in this time: bursts freeze some',
  resendAfterMs: 'a command that changed nothing is sent again after this',
  softOffPatienceMs: 'a soft off that changed nothing becomes a hard off after this',
  powerOnTimeoutMs: 'power that is not on by then: quarantine',
  powerOffTimeoutMs: 'power that is not off by then: quarantine',
  shortestJoinTimeoutMs: "a machine's learned boot time never makes its join deadline shorter than this",
  retryAfterMs: 'how long a failed machine is left alone, doubled with every failure in a row',
  retryAfterMaxMs: 'the longest such pause',
  evictEveryMs: 'how often pods that refuse to leave are asked again',
  volumeTimeoutMs:
    'how long a node without pods is given to detach its volumes, before its machine is powered off and again before its Node is removed',
};

const names = Object.keys(defaultTimings) as (keyof Timings)[];

/** `bmcTimeout: 10s` for `bmcTimeoutMs`, and so on for every timing. */
export const TimingsInput = z
  .strictObject(
    Object.fromEntries(
      names.map((name) => [name.replace(/Ms$/, ''), durationMs.optional().describe(meanings[name])]),
    ),
  )
  .prefault({})
  .describe('how patient to be with machines')
  .transform(
    (given): Timings =>
      Object.fromEntries(
        names.map((name) => [name, given[name.replace(/Ms$/, '')] ?? defaultTimings[name]]),
      ) as unknown as Timings,
  );
