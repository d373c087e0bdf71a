/** One metric: what it is called and means, and who has it to tell. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Never anything a sender chooses or that comes and goes with pods: every value costs memory for ever. */
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** Which functions tell it, each in its own process, or the sensor; the host tells what its functions do. */
  readonly from: readonly string[];
}
