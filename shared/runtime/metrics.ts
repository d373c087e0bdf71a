import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly invocations: Counter<'function' | 'trigger' | 'outcome'>;
  readonly duration: Histogram<'function'>;
  readonly eventsDead: Counter<'function' | 'reason'>;
}

/** A registry of its own for each process or test: nothing is registered globally. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'bamel_' });
  return {
    registry,
    invocations: new Counter({
      name: 'bamel_function_invocations_total',
      help: 'Invocations by function, by what woke it, and by how it ended',
      labelNames: ['function', 'trigger', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'bamel_function_duration_seconds',
      help: 'How long an invocation took',
      labelNames: ['function'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    }),
    eventsDead: new Counter({
      name: 'bamel_events_dead_total',
      help: 'Events given up on: rejected, tried too often, or dropped because too many were waiting',
      labelNames: ['function', 'reason'],
      registers,
    }),
  };
}
