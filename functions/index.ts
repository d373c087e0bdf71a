import type { FunctionDefinition, Handler, ServedFunction } from '../shared/runtime/function.ts';
import { served } from '../shared/runtime/served.ts';
import type { Deps } from './deps.ts';
import { DrainInput, drainNode } from './drain-node/handler.ts';
import { EvaluateInput, evaluateScaling } from './evaluate-scaling/handler.ts';
import { events, foreignEvents } from './events.ts';
import { JoinInput, joinWatcher } from './join-watcher/handler.ts';
import { PowerInput, powerAction } from './power-action/handler.ts';

interface FunctionRow<Input> extends FunctionDefinition<Input> {
  readonly create: (deps: Deps) => Handler<Input>;
}

/** Hides a row's own input type, so that all rows fit into one table. */
const row = <Input>({ create, ...definition }: FunctionRow<Input>) => ({
  definition: definition as FunctionDefinition,
  create: (deps: Deps): ServedFunction => served(definition, create(deps)),
});

/** Every function there is: what wakes it, what it tells. Hosts, manifests and docs are made from this table. */
export const functionTable = [
  row({
    name: 'evaluate-scaling',
    does: 'builds a snapshot, decides, writes intents and a decision record',
    wakesOn: [
      events.tick,
      events.podWaiting,
      events.machineJoined,
      events.machineFailed,
      events.machineStopped,
      foreignEvents.apiServer,
      foreignEvents.ping,
    ],
    emits: [events.powerRequested, events.drainRequested],
    input: EvaluateInput,
    create: evaluateScaling,
  }),
  row({
    name: 'power-action',
    does: 'carries out power operations on machines, verified; notices what changed without it',
    wakesOn: [events.tick, events.powerRequested, events.machineDrained, foreignEvents.ping],
    emits: [events.machinePowered, events.machineStopped, events.machineFailed, events.powerRequested],
    input: PowerInput,
    create: powerAction,
  }),
  row({
    name: 'join-watcher',
    does: 'matches nodes to machines, prepares those that join, gives up on those that never do',
    wakesOn: [
      events.tick,
      events.nodeChanged,
      events.machinePowered,
      events.machineStopped,
      foreignEvents.apiServer,
      foreignEvents.ping,
    ],
    emits: [events.machineJoined, events.machineFailed],
    input: JoinInput,
    create: joinWatcher,
  }),
  row({
    name: 'drain-node',
    does: 'empties a node before its machine is powered off, or gives up and uncordons it',
    wakesOn: [events.tick, events.drainRequested, foreignEvents.ping],
    emits: [events.machineDrained, events.drainAborted],
    input: DrainInput,
    create: drainNode,
  }),
] as const;

/** The functions, ready to be called. */
export const createFunctions = (deps: Deps): ServedFunction[] =>
  functionTable.map(({ create }) => create(deps));
