import type { ClusterView, Pod, PodRef } from '../cluster/cluster.ts';
import type { PoolForecast } from '../forecast/pool-forecast.ts';
import type { ProviderState } from '../limits/provider-state.ts';
import { type Capacity, capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Offer } from '../remote/offer.ts';
import type { PoolSpec, Settings } from '../settings.ts';

/** The last reading of a pool's trigger. */
export interface TriggerReading {
  readonly pool: string;
  /** The trigger's name. */
  readonly trigger: string;
  /** Absent, or not a number, means nothing. */
  readonly value?: number | undefined;
  /** Since when it has been on this side of the trigger's threshold. */
  readonly since: number;
  /** A remark for the record. */
  readonly note?: string | undefined;
  /** Unknown: no machine is powered off because of a missing value. */
  readonly unknown?: boolean | undefined;
}

/** An alert that steers a pool. */
export interface AlertReading {
  readonly pool: string;
  readonly alert: string;
  readonly since: number;
  /** Absent while it fires. */
  readonly endedAt?: number | undefined;
}

export type PressureCategory = 'cpu' | 'memory' | 'network' | 'storage' | 'ephemeral-storage';

/** A pod that has a part in what its node feels. */
export interface PressingPod {
  readonly uid: string;
  /** Of all that presses. */
  readonly share: number;
  /** A limit of its own holds it: it would be no better off elsewhere. */
  readonly ownLimit?: boolean | undefined;
}

/** The pressure of a node, as reported by its sensor. */
export interface PressureReading {
  readonly node: string;
  readonly category: PressureCategory;
  /** 0 to 1. */
  readonly level: number;
  readonly sign: 'rising' | 'falling';
  readonly ratePerMinute?: number | undefined;
  /** Those that press most. */
  readonly pods?: readonly PressingPod[] | undefined;
}

/** All that a decision may know. */
export interface Snapshot {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
  readonly triggers?: readonly TriggerReading[] | undefined;
  readonly alerts?: readonly AlertReading[] | undefined;
  readonly pressure?: readonly PressureReading[] | undefined;
  /** Of pools with prewarm on and enough history. */
  readonly forecasts?: readonly PoolForecast[] | undefined;
  /** Offers of remote clusters; expired ones may be among them. */
  readonly offers?: readonly Offer[] | undefined;
  /** Of pools that make their machines on demand; a pool without an entry is not limited by it. */
  readonly providers?: readonly ProviderState[] | undefined;
  /** The node this process runs on: never powered off. */
  readonly ownNode?: string | undefined;
}

/** Pods the scheduler found no node for. Those of a DaemonSet are no demand: they follow their nodes. */
export const waitingPods = ({ pods }: ClusterView): Pod[] =>
  pods.filter(
    (pod) =>
      pod.unschedulable !== undefined &&
      !pod.node &&
      !pod.finished &&
      !pod.terminating &&
      !pod.belongsToNode &&
      !pod.nominatedNode,
  );

export const podName = (pod: PodRef): string => `${pod.namespace}/${pod.name}`;

export const count = (machines: readonly Machine[], ...capacities: Capacity[]): number =>
  machines.filter((machine) => capacities.includes(capacityOf(machine))).length;
