/** The values of an expression at a time. NaN and infinities are kept. */
export interface Measured {
  /** Milliseconds since the epoch, by the clock of who answered. */
  readonly at: number;
  /** One per series; none where there is no data. */
  readonly values: readonly number[];
}

/** Prometheus, or what answers like it. */
export interface MetricsSource {
  /** Throws MetricsError when there is no answer, or none that can be understood. */
  query(expression: string, signal: AbortSignal): Promise<Measured>;
}

export class MetricsError extends Error {
  override readonly name = 'MetricsError';
}
