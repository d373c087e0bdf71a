import type { MachineSpec, PowerVerb } from '../../core/machine/machine.ts';
import type { JobState } from '../../ports/kubernetes-objects.ts';
import type { DriverDefinition, DriverDeps, PowerReading } from '../../ports/power.ts';
import { withoutCredentials } from '../../process/redact.ts';
import type { CompanionDriver } from '../common/companion.ts';
import { createWitness, inTime } from '../common/evidence.ts';
import { failureOf } from '../common/failure.ts';
import { healthManifest, jobManifest, jobName, labelsOf } from './manifest.ts';
import { JobOptions } from './options.ts';

const uses = ['clock', 'jobs', 'nodeOf', 'resolve'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

export { JobOptions };

/**
 * Kubernetes Jobs that power a machine: whatever fits into a container. That a Job succeeded says that the command
 * was given; whether the machine is on is what its node shows, or a health check.
 */
export function createJob(
  spec: MachineSpec,
  options: JobOptions,
  deps: Deps,
  section = 'job',
): CompanionDriver {
  const fail = failureOf(spec);
  const { namespace, startup, shutdown, healthCheck } = options;
  const templates = { on: startup, 'soft-off': shutdown, 'hard-off': undefined } satisfies Record<
    PowerVerb,
    unknown
  >;
  const witness = createWitness(spec, options.probe, deps);
  let isScheduled = false;

  const readHealth = async (
    check: NonNullable<JobOptions['healthCheck']>,
    signal: AbortSignal,
  ): Promise<PowerReading> => {
    if (!isScheduled)
      await inTime(deps.jobs.ensure(namespace, healthManifest(spec, options, check)), signal, fail);
    isScheduled = true;
    const last = await inTime(deps.jobs.latest(namespace, labelsOf(spec.name, 'health')), signal, fail);
    const isFresh = last?.finishedAt !== undefined && deps.clock.now() - last.finishedAt < check.freshFor;
    if (isFresh && last.phase === 'succeeded') return { power: 'on' };
    const node = await witness(signal);
    // Without a check that failed, a silent node may as well be one whose network is down.
    return isFresh || node.power !== 'off' ? node : { power: 'unknown' };
  };

  return {
    capabilities: {
      status: healthCheck !== undefined,
      softOff: shutdown !== undefined,
      hardOff: false,
      bootFromNetwork: false,
      sensors: false,
    },
    switchesOn: startup !== undefined,
    read: healthCheck ? (signal) => readHealth(healthCheck, signal) : witness,
    async set(verb, signal, operation) {
      const template = templates[verb];
      if (!template) throw fail('config', `it cannot be told ${verb}: ${section} has no pod template for it`);
      if (signal.aborted) throw fail('timeout', 'there was no time left to make its Job');
      await inTime(
        deps.jobs.ensure(namespace, jobManifest(spec, options, template, operation, verb)),
        signal,
        fail,
      );
      const name = jobName(operation, verb);
      const state = await inTime(deps.jobs.read(namespace, name), signal, fail);
      if (state?.phase === 'failed') throw fail('refused', `its Job ${name} failed${reasonOf(state)}`);
    },
  };
}

/** Together they leave room for a sentence around them: an error is cut off at the end, where the log is. */
const longest = { message: 120, log: 250 };
const assignedSecret =
  /((?:password|passwd|passphrase|token|secret|api-?key|private-?key|authorization|community)["']?\s*[=:]\s*)\S+/gi;

/** Why it failed, in a line or two without secrets. */
function reasonOf({ message, log }: JobState): string {
  const readable = (text: string) =>
    withoutCredentials(text)
      .replace(assignedSecret, '$1[redacted]')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a log may hold anything, and a terminal would obey it.
      .replace(/[\x00-\x1f\x7f]+/g, ' ')
      .trim();
  const why = message ? ` (${readable(message).slice(0, longest.message)})` : '';
  return log ? `${why}; it said: ${readable(log).slice(-longest.log)}` : why;
}

export const driver: DriverDefinition<JobOptions, (typeof uses)[number]> = {
  uses,
  options: JobOptions.refine(({ startup }) => startup, { error: 'needed to power it on', path: ['startup'] }),
  create: createJob,
};
