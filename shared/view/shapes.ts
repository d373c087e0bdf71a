import { z } from 'zod';

/** What the API answers: the OpenAPI document is made from this, and the console's types too. Times are milliseconds. */
const Amounts = z
  .record(z.string(), z.number())
  .describe('cpu in millicores, memory in bytes, others as counts');
const code = z.string().optional().describe('the code of the reason that why is the text of');
const time = z.number().describe('milliseconds since the epoch');

export const HistoryShape = z.object({
  machine: z.string(),
  at: time,
  by: z.string().describe('the function that wrote it'),
  event: z.string(),
  from: z.string(),
  to: z.string(),
  why: z.string().optional(),
  code,
  operation: z.string().optional(),
});

export const OperationShape = z.object({
  id: z.string(),
  machine: z.string(),
  goal: z.enum(['on', 'off']),
  why: z.string(),
  decision: z.string().optional(),
  createdAt: time,
  endedAt: time.optional(),
  end: z.enum(['done', 'failed', 'cancelled']).optional(),
  error: z.string().optional(),
  commands: z.array(z.object({ verb: z.string(), at: time })),
  progress: z.array(z.object({ at: time, what: z.string() })),
});

export const MachineShape = z.object({
  name: z.string(),
  pool: z.string(),
  rack: z.string().optional(),
  rackUnit: z.number().optional().describe('the lowest unit that it takes, counted from the bottom'),
  rackHeight: z.number().optional().describe('how many units it takes; 1 unless given'),
  zone: z.string().optional(),
  powerCircuit: z.string().optional(),
  powerInterface: z.string(),
  made: z.boolean().describe('made on demand'),
  offer: z
    .string()
    .optional()
    .describe('of a slice of a remote cluster: PROVIDER.NAME of what it was taken from'),
  hourlyRate: z.number().optional().describe('what an hour of it costs, in the money of its owner'),
  state: z.string(),
  means: z.string().describe('the state in words'),
  waitsFor: z.string(),
  capacity: z.enum(['none', 'coming', 'serving', 'leaving']).describe('what it gives the cluster'),
  stateSince: time,
  why: z.string().optional().describe('what last happened to it, and why'),
  power: z.object({ state: z.enum(['on', 'off', 'unknown']), inferred: z.boolean() }),
  bmc: z.object({
    reachable: z.boolean().optional(),
    refused: z
      .object({ until: time, message: z.string() })
      .optional()
      .describe('it refused the credentials: left alone until then, or until they change'),
  }),
  node: z.object({
    name: z.string().optional(),
    ready: z.boolean().optional(),
    problem: z.string().optional(),
    pods: z.number().optional(),
  }),
  resources: Amounts,
  requested: Amounts.optional().describe('what pods on its node ask for'),
  watts: z.object({
    now: z.number().optional(),
    idle: z.number().optional(),
    max: z.number().optional(),
  }),
  health: z.object({
    status: z.enum(['ok', 'warning', 'critical', 'unknown']),
    celsius: z.number().optional(),
    problems: z.array(z.string()),
  }),
  boot: z.object({
    learnedMs: z.number().optional(),
    startedAt: time.optional(),
    provenAt: time.optional(),
  }),
  drain: z
    .object({ podsLeft: z.number(), podsTotal: z.number(), waitingFor: z.string().optional() })
    .optional(),
  operation: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string(), at: time }).optional(),
  idleSince: time.optional().describe('since when no pod needs it; absent while one does'),
  attempts: z.number(),
  retryAt: time.optional(),
  maintenance: z.boolean(),
});

export const MachineDetailShape = MachineShape.extend({
  mgmtAddress: z.string().optional(),
  macAddress: z.string().optional(),
  systemUUID: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  taints: z.array(z.object({ key: z.string(), value: z.string().optional(), effect: z.string() })),
  history: z.array(HistoryShape),
  operations: z.array(OperationShape),
});

export const PoolShape = z.object({
  name: z.string(),
  managedBy: z.string(),
  limits: z.object({
    minNodes: z.number(),
    maxNodes: z.number(),
    cpuCores: z.number(),
    memoryMiB: z.number(),
    hourlyCost: z.number().optional(),
  }),
  machines: z.number(),
  states: z.record(z.string(), z.number()).describe('how many machines are in each state'),
  ready: z.number(),
  pending: z.number().describe('on their way'),
  leaving: z.number(),
  desired: z.number().describe('ready and on their way'),
  health: z.object({ status: z.enum(['healthy', 'degraded', 'offline', 'unknown']), why: z.string() }),
  resources: Amounts.describe('of the machines that serve'),
  requested: Amounts,
  watts: z.object({ now: z.number(), max: z.number() }),
});

export const DecisionSummaryShape = z.object({
  id: z.string(),
  at: time,
  summary: z.string(),
  powerOn: z.array(z.string()),
  drain: z.array(z.string()),
  intents: z.number().describe('how many changes it made, of every kind'),
  unmet: z.number(),
});

export const DecisionShape = DecisionSummaryShape.extend({
  digest: z.string(),
  demand: z.array(
    z.object({
      pods: z.number(),
      requests: Amounts,
      example: z.string(),
      room: z.number(),
      served: z.number(),
      unmodelled: z.array(z.string()),
    }),
  ),
  wants: z.array(z.string()),
  candidates: z.array(
    z.object({
      machine: z.string(),
      verdict: z.string(),
      why: z.string(),
      code,
      watts: z.number().optional(),
      price: z.number().optional().describe('per hour, for remote capacity'),
      score: z.record(z.string(), z.number()).optional(),
      alike: z.object({ count: z.number(), examples: z.array(z.string()) }).optional(),
    }),
  ),
  offers: z
    .array(
      z.object({
        offer: z.string(),
        pool: z.string(),
        verdict: z.string(),
        why: z.string(),
        code,
        pods: z.number().optional(),
        price: z.number().optional(),
      }),
    )
    .describe('the offers of remote clusters, and their use'),
  limits: z.array(z.string()),
  notes: z.array(z.string()),
  unmetPods: z.array(z.object({ pod: z.string(), pods: z.number(), why: z.string(), code })),
});

export const PodShape = z.object({
  namespace: z.string(),
  name: z.string(),
  requests: Amounts,
  since: time,
  scheduler: z.string().optional().describe("the scheduler's own message"),
  why: z.string().describe('what becomes of it'),
});

export const PressureShape = z.object({
  node: z.string(),
  category: z.string().describe('cpu, memory, storage, network …'),
  level: z.number().describe('from 0, none, to 1'),
  sign: z.enum(['rising', 'falling']),
  ratePerMinute: z.number().optional(),
});

export const EnergyShape = z.object({
  wattsNow: z.number().describe('of all machines, measured or estimated'),
  wattsIfAllOn: z.number().describe('if every machine were on and idle or as it is'),
  kWhUsed: z.number().describe('since the count began'),
  kWhSaved: z.number().describe('since the count began'),
  moneySaved: z.number().optional().describe('at the tariff of the settings'),
  since: time.optional(),
});

export const TrendShape = z.object({
  from: time,
  to: time,
  at: z.array(time),
  series: z
    .record(z.string(), z.array(z.number().nullable()))
    .describe(
      'one number for every `at`: state/… machines, pods/waiting, used/POOL percent, watts/now, watts/all-on, begun/… since the sample before',
    ),
  boots: z.array(z.object({ machine: z.string(), at: time, ms: z.number() })),
});

const UpcomingShape = z.object({
  kind: z.enum(['boot', 'drain', 'power-off', 'idle', 'retry', 'pause', 'schedule']),
  at: time.optional().describe('absent where it is not known'),
  machine: z.string().optional(),
  pool: z.string(),
  why: z.string(),
});

export const OverviewShape = z.object({
  machines: z.number(),
  states: z.record(z.string(), z.number()),
  ready: z.number(),
  coming: z.number(),
  leaving: z.number(),
  waiting: z.number().optional().describe('pods without a node; absent while the cluster does not answer'),
  watts: z.number(),
  kWhSaved: z.number(),
  next: z.array(UpcomingShape).describe('what is under way or due, the earliest first'),
  decision: z
    .object({ id: z.string(), at: time, summary: z.string(), limits: z.array(z.string()), unmet: z.number() })
    .optional()
    .describe('the last one that was recorded'),
});

export const AboutShape = z.object({
  version: z.string(),
  now: time.describe("the host's clock"),
  dryRun: z.boolean().describe('nothing is begun, only decided'),
  caption: z.string().optional().describe('a caption of the current scene, if any'),
  cluster: z.boolean().describe('whether the cluster answered when it was last asked'),
  may: z.enum(['act', 'read']).describe('whether the caller may act, or only read'),
});

export const ExplanationShape = z.object({ lines: z.array(z.string()) });

export type MachineView = z.infer<typeof MachineShape>;
export type MachineDetail = z.infer<typeof MachineDetailShape>;
export type PoolView = z.infer<typeof PoolShape>;
export type DecisionSummary = z.infer<typeof DecisionSummaryShape>;
export type DecisionView = z.infer<typeof DecisionShape>;
export type OperationView = z.infer<typeof OperationShape>;
export type HistoryView = z.infer<typeof HistoryShape>;
export type PodView = z.infer<typeof PodShape>;
export type PressureView = z.infer<typeof PressureShape>;
export type EnergyView = z.infer<typeof EnergyShape>;
export type TrendView = z.infer<typeof TrendShape>;
export type UpcomingView = z.infer<typeof UpcomingShape>;
export type OverviewView = z.infer<typeof OverviewShape>;
export type AboutView = z.infer<typeof AboutShape>;
export type ExplanationView = z.infer<typeof ExplanationShape>;
