import { events, foreignEvents } from '../shared/ports/event-types.ts';
import {
  type FunctionDefinition,
  type Handler,
  type ServedFunction,
  served,
} from '../shared/server/function.ts';
import type { Route } from '../shared/server/routes.ts';
import { DeadLettersInput, deadLetters } from './dead-letters/handler.ts';
import type { Deps } from './deps.ts';
import { DiscoveryInput, discovery, discoveryRoutes } from './discovery/handler.ts';
import { DrainInput, drainNode } from './drain-node/handler.ts';
import { EvaluateInput, evaluateScaling } from './evaluate-scaling/handler.ts';
import { JoinInput, joinWatcher } from './join-watcher/handler.ts';
import { PowerInput, powerAction } from './power-action/handler.ts';
import { SyncInput, syncInventory } from './sync-inventory/handler.ts';

interface FunctionRow<Input> extends FunctionDefinition<Input> {
  readonly create: (deps: Deps) => Handler<Input>;
  /** Additional HTTP routes. */
  readonly routes?: (deps: Deps) => readonly Route[];
  /** Loads the cluster data that events need, before the first event of a process of its own. */
  readonly prefetch?: (deps: Deps) => Promise<unknown>;
}

/** Erases the input type of a row, so that all rows fit into one table. */
const row = <Input>({ create, routes, prefetch, ...definition }: FunctionRow<Input>) => ({
  definition: definition as FunctionDefinition,
  create: (deps: Deps): ServedFunction => served(definition, create(deps)),
  routes: (deps: Deps): readonly Route[] => routes?.(deps) ?? [],
  prefetch,
});

/**
 * All functions: the events that wake them and the events they emit. Hosts, manifests and docs are generated
 * from this table.
 */
export const functionTable = [
  row({
    name: 'evaluate-scaling',
    does: 'builds a snapshot, decides, writes intents and a decision record',
    wakesOn: [
      events.tick,
      events.podWaiting,
      events.alertReceived,
      events.pressureChanged,
      events.machineJoined,
      events.machineFailed,
      events.machineStopped,
      events.providerChecked,
      foreignEvents.ping,
    ],
    emits: [events.powerRequested, events.drainRequested, events.drainAborted],
    input: EvaluateInput,
    create: evaluateScaling,
    prefetch: ({ cluster }) => cluster.view(),
  }),
  row({
    name: 'power-action',
    does: 'carries out power operations and verifies them; detects power changes made by others',
    wakesOn: [events.tick, events.powerRequested, events.machineDrained, foreignEvents.ping],
    emits: [
      events.machinePowered,
      events.machineStopped,
      events.machineFailed,
      events.powerRequested,
      events.drainRequested,
      events.providerChecked,
    ],
    input: PowerInput,
    create: powerAction,
  }),
  row({
    name: 'join-watcher',
    does: 'matches nodes to machines, prepares nodes that join, recovers machines whose node is lost or never joins',
    wakesOn: [
      events.tick,
      events.nodeChanged,
      events.machinePowered,
      events.machineStopped,
      foreignEvents.ping,
    ],
    emits: [events.machineJoined, events.machineFailed, events.powerRequested],
    input: JoinInput,
    create: joinWatcher,
    prefetch: ({ cluster }) => cluster.view(),
  }),
  row({
    name: 'drain-node',
    does: 'drains a node before its machine is powered off; uncordons it when the drain is aborted',
    wakesOn: [events.tick, events.drainRequested, events.drainAborted, foreignEvents.ping],
    emits: [events.machineDrained, events.drainAborted],
    input: DrainInput,
    create: drainNode,
  }),
  row({
    name: 'sync-inventory',
    does: 'imports the file, a ConfigMap or custom resources into the store; writes status back to the resources',
    wakesOn: [
      events.tick,
      events.inventoryChanged,
      events.machinePowered,
      events.machineJoined,
      events.machineDrained,
      events.machineStopped,
      events.machineFailed,
      foreignEvents.ping,
    ],
    emits: [events.drainRequested],
    input: SyncInput,
    create: syncInventory,
    prefetch: async ({ resources }) => resources?.all(),
  }),
  row({
    name: 'discovery',
    does: 'reads offers of other clusters, publishes our offers, accepts peers',
    wakesOn: [events.tick, foreignEvents.ping],
    emits: [],
    input: DiscoveryInput,
    create: discovery,
    routes: discoveryRoutes,
  }),
  row({
    name: 'dead-letters',
    does: 'stores events that could not be delivered; sends them again on request',
    wakesOn: [],
    emits: [],
    input: DeadLettersInput,
    takesAnyEvent: true,
    create: deadLetters,
  }),
] as const;

/** The functions, ready to be called. */
export const createFunctions = (deps: Deps): ServedFunction[] =>
  functionTable.map(({ create }) => create(deps));

/** Additional HTTP routes of all functions. */
export const routesOf = (deps: Deps): Route[] => functionTable.flatMap(({ routes }) => routes(deps));
