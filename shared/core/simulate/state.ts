import type { Labels, Node } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { NodeClass } from './node-filter.ts';
import type { Sites } from './places.ts';
import type { PodKind } from './pod-class.ts';
import type { Kinds } from './pod-classes.ts';
import type { Eligibility } from './spread.ts';
import type { Topology } from './topology.ts';
import type { Asked } from './visible-labels.ts';

/** Somewhere pods can be: a node, or the node that a machine will become. */
export interface Place {
  readonly index: number;
  readonly name: string;
  readonly node?: Node | undefined;
  readonly machine?: Machine | undefined;
  readonly labels: Labels;
  readonly allocatable: Resources;
  /** Pods of DaemonSets that are not there yet and are counted. */
  readonly daemons: readonly PodKind[];
  /** Why it takes no pods from the start. */
  readonly shut?: Reason | undefined;
}

/**
 * Who is where and who fits where. Changed in place by put, remove, addMachine, growPlace and closePlace; every change can be
 * taken back. The snapshot it was made from is never touched.
 */
export interface World {
  readonly places: Place[];
  /** Places that stand for nodes of the cluster, by the node's name. */
  readonly byNode: ReadonlyMap<string, Place>;
  readonly topology: Topology;
  readonly eligibilities: readonly Eligibility[];
  readonly kinds: Kinds;
  readonly sites: Sites;
  readonly asked: Asked;
  /** Of what is asked, when places were last told apart by it. */
  askedVersion: number;

  /** Column of every resource that anybody asks for. */
  readonly columns: ReadonlyMap<string, number>;
  /** Columns per row of `free`. */
  width: number;
  /** Columns per row of `domains`. */
  readonly keys: number;
  // One row per place:
  free: Float64Array;
  domains: Int32Array;
  closed: Uint8Array;
  readonly classOf: NodeClass[];

  /** What was done, for taking it back. */
  readonly done: Change[];
}

type Change =
  | { readonly kind: PodKind; readonly place: number; readonly pods: number }
  | { readonly added: Place }
  | { readonly closed: Place }
  | { readonly dismissed: Place; readonly from: Eligibility }
  | { readonly opened: Place; readonly was: NodeClass }
  | { readonly grown: Place; readonly by: Resources };
