import { fleetMetrics } from './fleet-metrics.ts';
import type { MetricRow } from './metric-row.ts';

/** Virtual machines boot in seconds, large servers in a quarter of an hour. */
const bootBuckets = [5, 10, 20, 40, 60, 120, 180, 300, 450, 600, 900, 1_800];
const workBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];

/** Every function. */
const everyFunction: readonly string[] = ['*'];
/** Only in the host, where events are delivered in the process itself. */
const hostOnly: readonly string[] = [];

/** Every metric: the source of exports and docs, and the only ones that alerts and dashboards may use. */
export const metricTable = {
  buildInfo: {
    name: 'bamel_build_info',
    type: 'gauge',
    help: 'Always 1: the version that runs, and on which Node.js',
    labels: ['version', 'node'],
    from: everyFunction,
  },
  invocations: {
    name: 'bamel_function_invocations_total',
    type: 'counter',
    help: 'Invocations by function, by what woke it, and by how it ended',
    labels: ['function', 'trigger', 'outcome'],
    from: everyFunction,
  },
  duration: {
    name: 'bamel_function_duration_seconds',
    type: 'histogram',
    help: 'How long an invocation took',
    labels: ['function'],
    buckets: workBuckets,
    from: everyFunction,
  },
  eventsReceived: {
    name: 'bamel_events_received_total',
    type: 'counter',
    help: 'CloudEvents received over HTTP and accepted',
    labels: ['function'],
    from: everyFunction,
  },
  eventsRepeated: {
    name: 'bamel_events_repeated_total',
    type: 'counter',
    help: 'Repeated CloudEvents: acknowledged, not handled again',
    labels: ['function'],
    from: everyFunction,
  },
  requestsRefused: {
    name: 'bamel_requests_refused_total',
    type: 'counter',
    help: 'Requests refused before any function ran, by reason',
    labels: ['reason'],
    from: everyFunction,
  },
  eventLag: {
    name: 'bamel_event_lag_seconds',
    type: 'histogram',
    help: 'How old an event was when it came in, by its own time',
    labels: ['function'],
    buckets: [0.05, 0.2, 1, 5, 15, 60, 300, 1_800],
    from: everyFunction,
  },
  eventsDead: {
    name: 'bamel_events_dead_total',
    type: 'counter',
    help: 'Events that became dead letters: rejected, retried too often, or dropped from a full queue',
    labels: ['function', 'reason'],
    from: hostOnly,
  },
  leaseContention: {
    name: 'bamel_lease_contention_total',
    type: 'counter',
    help: 'Leases that another instance held when requested, by whether they were acquired in the end (got) or not (gave-up)',
    labels: ['lease', 'outcome'],
    from: everyFunction,
  },
  storeUp: {
    name: 'bamel_store_up',
    type: 'gauge',
    help: '1 while the store responds: without it nothing is decided or commanded',
    labels: [],
    from: everyFunction,
  },
  evaluations: {
    name: 'bamel_evaluations_total',
    type: 'counter',
    help: 'Evaluations by outcome: acted, nothing to do (idle), or dry-run',
    labels: ['outcome'],
    from: ['evaluate-scaling'],
  },
  evaluationDuration: {
    name: 'bamel_evaluation_duration_seconds',
    type: 'histogram',
    help: 'From reading the state to the intents being written',
    labels: [],
    buckets: workBuckets,
    from: ['evaluate-scaling'],
  },
  decisions: {
    name: 'bamel_decisions_total',
    type: 'counter',
    help: 'Intents that were written: power-on, drain, cancel-drain',
    labels: ['kind'],
    from: ['evaluate-scaling'],
  },
  podsWaiting: {
    name: 'bamel_pods_waiting',
    type: 'gauge',
    help: 'Pods that no node has room for, as of the last evaluation',
    labels: [],
    from: ['evaluate-scaling'],
  },
  podsUnmet: {
    name: 'bamel_pods_unmet',
    type: 'gauge',
    help: 'Waiting pods that no machine can be powered on for, as of the last evaluation',
    labels: [],
    from: ['evaluate-scaling'],
  },
  ...fleetMetrics,
  powerCommands: {
    name: 'bamel_power_commands_total',
    type: 'counter',
    help: 'Commands to BMCs: ok, or the error code',
    labels: ['driver', 'verb', 'outcome'],
    from: ['power-action'],
  },
  bmcsPaused: {
    name: 'bamel_bmcs_paused',
    type: 'gauge',
    help: 'BMCs that failed several times and that this process does not call for a while',
    labels: [],
    from: ['power-action'],
  },
  operations: {
    name: 'bamel_power_operations_total',
    type: 'counter',
    help: 'Ended operations: done, failed or cancelled, by goal',
    labels: ['pool', 'goal', 'outcome'],
    from: ['evaluate-scaling', 'power-action', 'join-watcher', 'drain-node', 'sync-inventory'],
  },
  bootDuration: {
    name: 'bamel_boot_duration_seconds',
    type: 'histogram',
    help: 'From the power being seen on to a Ready node',
    labels: ['pool'],
    buckets: bootBuckets,
    from: ['join-watcher'],
  },
  offers: {
    name: 'bamel_offers',
    type: 'gauge',
    help: 'Offers of remote clusters that are known: usable, or expired lately',
    labels: ['state'],
    from: ['discovery'],
  },
  offersRefused: {
    name: 'bamel_offers_refused_total',
    type: 'counter',
    help: 'Refused offers by reason: malformed, untrusted, forged, wrong-cluster, not-yet-valid, expired, older, too-expensive',
    labels: ['reason'],
    from: ['discovery'],
  },
  peeringRequests: {
    name: 'bamel_peering_requests_total',
    type: 'counter',
    help: 'Requests of peers (nonce, exchange) by outcome: accepted, or the reason of the refusal; too-many by limit (address, cluster)',
    labels: ['what', 'outcome'],
    from: ['discovery'],
  },
  pressureReports: {
    name: 'bamel_pressure_reports_total',
    type: 'counter',
    help: 'Pressure events of sensors: taken, or why they changed nothing (old, unknown-node)',
    labels: ['outcome'],
    from: ['evaluate-scaling'],
  },
  pressureShare: {
    name: 'bamel_pressure_share',
    type: 'gauge',
    help: 'Share of the last two seconds with a task waiting for it (psi), or in use, from 0 to 1',
    labels: ['node', 'category', 'signal'],
    from: ['sensor'],
  },
  pressureBand: {
    name: 'bamel_pressure_band',
    type: 'gauge',
    help: 'How pressed a node is: 0 calm, 1 pressed, 2 severe',
    labels: ['node', 'category', 'signal'],
    from: ['sensor'],
  },
  pressureEvents: {
    name: 'bamel_pressure_events_total',
    type: 'counter',
    help: 'Events that a sensor sent and that were accepted',
    labels: ['node', 'category', 'sign'],
    from: ['sensor'],
  },
  pressureFailures: {
    name: 'bamel_pressure_failures_total',
    type: 'counter',
    help: 'Failed attempts of a sensor to send an event: it retries with the newest reading',
    labels: ['node'],
    from: ['sensor'],
  },
  pressureWaiting: {
    name: 'bamel_pressure_waiting',
    type: 'gauge',
    help: 'Events that a sensor has yet to send',
    labels: ['node'],
    from: ['sensor'],
  },
  pressurePods: {
    name: 'bamel_pressure_pods',
    type: 'gauge',
    help: 'Pods that a sensor follows',
    labels: ['node'],
    from: ['sensor'],
  },
  pressureRunQueue: {
    name: 'bamel_pressure_run_queue_seconds',
    type: 'gauge',
    help: 'Of all pods of the node, 95 % of the waits for a cpu are shorter; only with eBPF',
    labels: ['node'],
    from: ['sensor'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export type MetricTable = typeof metricTable;

/** Whether a process exports a metric: the host, which has no name, exports those of its functions. */
export const isExportedBy = ({ from }: Pick<MetricRow, 'from'>, name: string | undefined): boolean =>
  name === undefined ? !from.includes('sensor') : from.includes('*') || from.includes(name);
