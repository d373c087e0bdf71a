import type { Pod } from './cluster.ts';
import { misfit, type Place } from './fit.ts';
import { subtract } from './resources.ts';
import { withSlot } from './snapshot.ts';

/** First fit, the given places untouched. Returns the pods that found none. */
export function packAll(pods: readonly Pod[], places: readonly Place[]): Pod[] {
  const open = [...places];
  return pods.filter((pod) => place(pod, open) === undefined);
}

/** Gives the pod the first place it fits and takes the room from it. Returns that place's name. */
export function place(pod: Pod, open: Place[]): string | undefined {
  const wanted = { ...pod, requests: withSlot(pod) };
  const index = open.findIndex((candidate) => misfit(wanted, candidate) === undefined);
  const found = open[index];
  if (!found) return undefined;
  open[index] = { ...found, free: subtract(found.free, wanted.requests) };
  return found.name;
}
