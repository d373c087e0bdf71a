import type {
  AboutView,
  DecisionSummary,
  HistoryView,
  MachineView,
  PodView,
  PoolView,
  PressureView,
} from '../shared/view/shapes.ts';

/** A page of a list, as the API sends it. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly next?: number;
}

export type Machines = Page<MachineView>;
export type Pools = Page<PoolView>;
export type Pods = Page<PodView>;
export type Pressures = Page<PressureView>;
export type Happenings = Page<HistoryView>;
export type Decisions = Page<DecisionSummary>;
export type { AboutView };
