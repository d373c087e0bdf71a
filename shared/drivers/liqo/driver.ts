import type { MachineSpec, PowerVerb } from '../../core/machine/machine.ts';
import type { KubeObjects } from '../../ports/kubernetes-objects.ts';
import type { DriverDefinition, DriverDeps, PowerDriver, PowerReading, Sensors } from '../../ports/power.ts';
import { inTime } from '../common/evidence.ts';
import { type Fail, failureOf } from '../common/failure.ts';
import { type Neighbour, neighbourOf } from './neighbour.ts';
import { Options } from './options.ts';
import { peer } from './peering.ts';
import {
  denialOf,
  ensureSlice,
  grantedOf,
  isAccepted,
  isOutgrown,
  ourSlices,
  type Parts,
  partsOf,
  resizeSlice,
  slicePath,
} from './slice.ts';

const uses = ['clock', 'objects', 'resolve', 'nodeOf'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

/** A provider decides within a second or so: whether it says no is worth waiting for. */
const verdictGlanceMs = 3_000;
const pollEveryMs = 250;

/**
 * A slice of a remote cluster, made on demand. Its ResourceSlice is the power button: Liqo makes a VirtualNode and a
 * Node of it, and takes them away with it.
 */
function create(spec: MachineSpec, options: Options, deps: Deps): PowerDriver {
  const fail = failureOf(spec);
  const { name } = spec;
  const { clusterID } = options;
  if (!clusterID) throw fail('config', "set liqo.clusterID to its provider's cluster id");
  const objects = objectsOf(deps, fail);
  const { clock } = deps;
  const look = async (signal: AbortSignal): Promise<Parts & Neighbour> => {
    const neighbour = await neighbourOf(objects, clusterID, signal);
    return { ...neighbour, ...(await partsOf(objects, neighbour, name, signal)) };
  };
  const unanswered: Fail = (code, message, retryAfterMs) =>
    fail(code, `${message} from provider ${clusterID}`, retryAfterMs);
  const remove = (namespace: string, signal: AbortSignal): Promise<boolean> =>
    objects.remove(slicePath(namespace, name), signal);

  const on = async (signal: AbortSignal): Promise<void> => {
    const { namespace } = await neighbourOf(objects, clusterID, signal);
    await peer(objects, spec, { ...options, clusterID }, namespace, deps, signal);
    const made = await ensureSlice(objects, namespace, clusterID, spec, options, signal);
    if (made.metadata.deletionTimestamp) throw fail('busy', 'its slice of before is still being deleted');
    if (isOutgrown(made, spec)) await resizeSlice(objects, namespace, spec, clock.now(), signal);
    const until = clock.monotonic() + verdictGlanceMs;
    let parts: Parts = { slice: made };
    while (parts.slice && !isAccepted(parts.slice)) {
      const denial = denialOf(parts.slice);
      if (denial !== undefined) {
        // Left alone it would come to life as soon as its provider thinks better of it.
        if (!parts.node) await remove(namespace, signal);
        throw fail('denied', `its provider ${clusterID} denied it (${denial})`);
      }
      if (clock.monotonic() >= until) return;
      await clock.sleep(pollEveryMs, signal);
      parts = await partsOf(objects, { namespace }, name, signal);
    }
  };

  const off = async (signal: AbortSignal): Promise<void> => {
    const { namespace, slice } = await look(signal);
    if (slice && !slice.metadata.deletionTimestamp) await remove(namespace, signal);
  };

  const giveBack = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const { namespace, slice, virtualNode, node } = await look(signal);
      if (node) throw fail('refused', 'its node is there after all: its slice is not deleted');
      if (!slice && !virtualNode) return;
      if (slice && !slice.metadata.deletionTimestamp) await remove(namespace, signal);
      await clock.sleep(pollEveryMs, signal);
    }
  };

  return {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: false, sensors: true },
    read: (signal) =>
      inTime(
        look(signal).then((parts) => readingOf(parts, spec, clusterID, clock.now())),
        signal,
        fail,
      ),
    set: (verb: PowerVerb, signal) => inTime(verb === 'on' ? on(signal) : off(signal), signal, unanswered),
    sense: (signal) =>
      inTime(
        look(signal).then((parts) => sensorsOf(parts, spec, clusterID)),
        signal,
        fail,
      ),
    release: (signal) => inTime(giveBack(signal), signal, fail),
  };
}

/**
 * Off is proven by what is not there. A slice that was never granted and has neither VirtualNode nor Node is off too,
 * because nothing can run on it, but it exists: it is given back. Whatever is being deleted, or belongs to a provider
 * that does not answer, may still run pods over there.
 */
function readingOf(
  { slice, virtualNode, node, silent }: Parts & Neighbour,
  spec: MachineSpec,
  provider: string,
  now: number,
): PowerReading {
  const used = virtualNode !== undefined || node !== undefined;
  const silence = silent && `provider ${provider} does not answer (${silent})`;
  if (!slice && !used) return { power: 'off', exists: false };
  if (!slice) return { power: 'unknown', unclear: `its slice of ${provider} is gone, its node is not yet` };
  if (slice.metadata.deletionTimestamp)
    return {
      power: 'unknown',
      exists: true,
      unclear: silence ?? `its slice of ${provider} is being deleted`,
    };
  if (!isAccepted(slice) && !used) return { power: 'off', exists: true };
  // A slice stays accepted through an outage.
  if (silence !== undefined) return { power: 'unknown', exists: true, unclear: silence };
  if (isOutgrown(slice, spec)) return { power: 'on', exists: true, outgrown: true };
  return { power: 'on', exists: true, resources: grantedOf(slice, spec, now) };
}

/** The problem of a provider, for people. */
function sensorsOf(
  { slice, silent }: Parts & Neighbour,
  { labels = {} }: MachineSpec,
  provider: string,
): Sensors {
  const denial = slice && denialOf(slice);
  if (denial !== undefined)
    return {
      health: 'critical',
      problems: [`provider ${provider} has withdrawn it (${denial}): its pods do not run there any more`],
    };
  const reported = Object.entries(slice?.status?.nodeLabels ?? {});
  const changed = reported.filter(([label, value]) => labels[label] !== undefined && labels[label] !== value);
  const problems = [
    ...(silent === undefined ? [] : [`provider ${provider} does not answer: ${silent}`]),
    ...changed.map(
      ([label, value]) => `provider ${provider} says ${label}=${value} now, not ${labels[label]}`,
    ),
  ];
  return { health: problems.length > 0 ? 'warning' : 'ok', problems };
}

/** Returns slices of ours without a record. Slices with a Node may run pods: they are only reported. */
async function releaseOrphans(
  spec: MachineSpec,
  _options: Options,
  isKnown: (machine: string) => boolean,
  deps: Deps,
  signal: AbortSignal,
): Promise<{ released: string[]; running: string[] }> {
  const objects = objectsOf(deps, failureOf(spec));
  const released: string[] = [];
  const running: string[] = [];
  for (const { metadata } of await ourSlices(objects, signal)) {
    const { name, namespace = '', deletionTimestamp } = metadata;
    if (deletionTimestamp || isKnown(name)) continue;
    const { node } = await partsOf(objects, { namespace }, name, signal);
    if (!node) await objects.remove(slicePath(namespace, name), signal);
    (node ? running : released).push(name);
  }
  return { released, running };
}

function objectsOf({ objects }: Deps, fail: Fail): KubeObjects {
  if (objects) return objects;
  throw fail(
    'config',
    'powerInterface liqo works through a Kubernetes cluster, and there is none: set KUBECONFIG',
  );
}

export const driver: DriverDefinition<Options, (typeof uses)[number]> = {
  uses,
  options: Options,
  create,
  releaseOrphans: releaseOrphans,
};
