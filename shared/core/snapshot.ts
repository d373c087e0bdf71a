import type { ClusterView, Pod, PodRef } from './cluster.ts';
import { type Capacity, capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import type { PoolSpec, Settings } from './settings.ts';

/** What a pool's trigger read last. */
export interface TriggerReading {
  readonly pool: string;
  /** The trigger's name. */
  readonly trigger: string;
  /** Absent, or not a number, means nothing. */
  readonly value?: number | undefined;
  /** Since when it has been on this side of the trigger's threshold. */
  readonly since: number;
}

export type PressureCategory = 'cpu' | 'memory' | 'network' | 'storage' | 'ephemeral-storage';

/** What a node feels, as a sensor on it told. */
interface PressureReading {
  readonly node: string;
  readonly category: PressureCategory;
  /** 0 to 1. */
  readonly level: number;
  readonly sign: 'rising' | 'falling';
  readonly ratePerMinute?: number | undefined;
  /** Those that press most. */
  readonly pods?: readonly string[] | undefined;
}

/** All that a decision may know. */
export interface Snapshot {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
  readonly triggers?: readonly TriggerReading[] | undefined;
  readonly pressure?: readonly PressureReading[] | undefined;
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
