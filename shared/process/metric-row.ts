/** One metric: its name, its meaning, and who exports it. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Never values that senders choose or that change with pods: every value costs memory. */
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /**
   * The functions that export it, each in its own process, or the sensor; the host exports the metrics of its
   * functions.
   */
  readonly from: readonly string[];
}
