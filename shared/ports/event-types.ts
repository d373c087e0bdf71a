import type { BamelEvent } from './events.ts';

/** Every event of ours: `dev.bamel.<noun>.<verb>`. All are wake-up calls; the store says what is to be done. */
export const events = {
  tick: 'dev.bamel.tick.due',
  podWaiting: 'dev.bamel.pod.waiting',
  alertReceived: 'dev.bamel.alert.received',
  pressureChanged: 'dev.bamel.pressure.changed',
  nodeChanged: 'dev.bamel.node.changed',
  inventoryChanged: 'dev.bamel.inventory.changed',
  powerRequested: 'dev.bamel.power.requested',
  providerChecked: 'dev.bamel.provider.checked',
  drainRequested: 'dev.bamel.drain.requested',
  machinePowered: 'dev.bamel.machine.powered',
  machineJoined: 'dev.bamel.machine.joined',
  machineDrained: 'dev.bamel.machine.drained',
  machineStopped: 'dev.bamel.machine.stopped',
  machineFailed: 'dev.bamel.machine.failed',
  drainAborted: 'dev.bamel.drain.aborted',
} as const;

/** Events of others that wake us. */
export const foreignEvents = {
  ping: 'dev.knative.sources.ping',
} as const;

export const machineEvent = (type: string, machine: string): BamelEvent => ({
  type,
  subject: machine,
  data: { machine },
});
