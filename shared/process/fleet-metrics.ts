import type { MetricRow } from './metric-row.ts';

/**
 * Read from the store at a scrape, and exported by one function only, so that sums over functions are right.
 */
const scraped: readonly string[] = ['evaluate-scaling'];

/** Metrics of machines and pools in the store. */
export const fleetMetrics = {
  machines: {
    name: 'bamel_machines',
    type: 'gauge',
    help: 'Machines by pool and state',
    labels: ['pool', 'state'],
    from: scraped,
  },
  machineStateSince: {
    name: 'bamel_machine_state_since_timestamp_seconds',
    type: 'gauge',
    help: 'When each machine entered its current state',
    labels: ['machine', 'pool', 'state'],
    from: scraped,
  },
  machineInfo: {
    name: 'bamel_machine_info',
    type: 'gauge',
    help: 'Always 1: the node of each machine, empty while it has none; joins metrics of machines to those of nodes',
    labels: ['machine', 'pool', 'node'],
    from: scraped,
  },
  machineTemperature: {
    name: 'bamel_machine_temperature_celsius',
    type: 'gauge',
    help: 'Temperature of the hottest sensor of a machine, measured by its BMC',
    labels: ['machine', 'pool'],
    from: scraped,
  },
  machineWatts: {
    name: 'bamel_machine_watts',
    type: 'gauge',
    help: 'Power draw of a machine, measured by its BMC',
    labels: ['machine', 'pool'],
    from: scraped,
  },
  machineHealth: {
    name: 'bamel_machines_by_health',
    type: 'gauge',
    help: 'Machines by health of their sensors: ok, warning, critical, unknown',
    labels: ['pool', 'health'],
    from: scraped,
  },
  drainPodsLeft: {
    name: 'bamel_drain_pods_left',
    type: 'gauge',
    help: 'Pods that a node being drained still has; absent while it is not drained',
    labels: ['machine', 'pool'],
    from: scraped,
  },
  drainPodsFound: {
    name: 'bamel_drain_pods_found',
    type: 'gauge',
    help: 'Pods that a node being drained had in all',
    labels: ['machine', 'pool'],
    from: scraped,
  },
  bmcs: {
    name: 'bamel_bmcs',
    type: 'gauge',
    help: 'Machines by whether their BMC responded last time: true, false, unknown',
    labels: ['pool', 'reachable'],
    from: scraped,
  },
  bmcsRefused: {
    name: 'bamel_bmcs_refusing',
    type: 'gauge',
    help: 'Machines whose BMC refused the credentials: not called until they are changed',
    labels: ['pool'],
    from: scraped,
  },
  poolMin: {
    name: 'bamel_pool_min_nodes',
    type: 'gauge',
    help: 'The fewest nodes a pool may have',
    labels: ['pool'],
    from: scraped,
  },
  poolMax: {
    name: 'bamel_pool_max_nodes',
    type: 'gauge',
    help: 'The most nodes a pool may have; 0: no limit',
    labels: ['pool'],
    from: scraped,
  },
  poolDesired: {
    name: 'bamel_pool_desired_nodes',
    type: 'gauge',
    help: 'Machines of a pool that serve or boot',
    labels: ['pool'],
    from: scraped,
  },
  poolReady: {
    name: 'bamel_pool_ready_nodes',
    type: 'gauge',
    help: 'Machines of a pool that serve and whose node is Ready',
    labels: ['pool'],
    from: scraped,
  },
  watts: {
    name: 'bamel_power_watts',
    type: 'gauge',
    help: 'Power draw of all machines, measured or estimated',
    labels: [],
    from: scraped,
  },
  wattsIfAllOn: {
    name: 'bamel_power_if_all_on_watts',
    type: 'gauge',
    help: 'Power draw if no machine were powered off',
    labels: [],
    from: scraped,
  },
  energyUsed: {
    name: 'bamel_energy_used_joules_total',
    type: 'counter',
    help: 'Energy used by all machines since the start of the count, kept in the store',
    labels: [],
    from: scraped,
  },
  energySaved: {
    name: 'bamel_energy_saved_joules_total',
    type: 'counter',
    help: 'Energy saved by powering machines off, kept in the store',
    labels: [],
    from: scraped,
  },
  deadLetters: {
    name: 'bamel_dead_letters',
    type: 'gauge',
    help: 'Dead letters in the store',
    labels: [],
    from: scraped,
  },
} as const satisfies Readonly<Record<string, MetricRow>>;
