export interface Scale {
  /** Requests at a time per instance; more wait in the queue-proxy or get another instance. */
  readonly concurrency: number;
  readonly maxInstances: number;
  /** How long a request may take. What takes longer goes on from the store with the next event. */
  readonly timeoutSeconds: number;
  readonly memory: string;
}

/** Most of their time functions wait for others, so many requests fit into one instance. */
const usual: Scale = { concurrency: 64, maxInstances: 3, timeoutSeconds: 300, memory: '256Mi' };

const special: Readonly<Record<string, Partial<Scale>>> = {
  // One decides at a time, whoever asks meanwhile shares it; it holds the whole cluster in memory.
  'evaluate-scaling': { maxInstances: 2, memory: '512Mi' },
  // The longest there is: a machine that ignores a soft off.
  'power-action': { timeoutSeconds: 600, maxInstances: 5 },
  'drain-node': { timeoutSeconds: 600 },
  // A browser keeps one request open for as long as somebody looks; it holds the whole cluster in memory.
  console: { maxInstances: 2, timeoutSeconds: 600, memory: '512Mi' },
  'dead-letters': { maxInstances: 1, timeoutSeconds: 60, memory: '128Mi' },
};

export const scaleOf = (name: string): Scale => ({ ...usual, ...special[name] });
