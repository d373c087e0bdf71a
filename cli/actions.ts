import { hostname } from 'node:os';
import { openStore } from '../shared/adapters/store/open-store.ts';
import { requestDrain } from '../shared/by-hand/drain.ts';
import { endQuarantine } from '../shared/by-hand/end-quarantine.ts';
import { setMaintenance } from '../shared/by-hand/maintenance.ts';
import {
  type PowerRequest,
  type RequestDeps,
  type RequestResult,
  requestPower,
} from '../shared/by-hand/power.ts';
import { realClock } from '../shared/process/clock.ts';
import { newId } from '../shared/process/ids.ts';
import { createInventory } from '../shared/state/inventory.ts';
import type { Io } from './command.ts';
import { connectTo } from './connection.ts';
import { checkHostRuns } from './operate.ts';
import { type SourceOptions, storeOf } from './source.ts';

/** The actions on a machine: the function that runs it with which input, and the same on the store itself. */
export interface Action {
  readonly asks: 'drain-node' | 'power-action';
  readonly body: object;
  readonly onStore: (hands: RequestDeps, machine: string, by: string) => Promise<RequestResult>;
}

export const actions = {
  power: (power: 'on' | 'off', how: Omit<PowerRequest, 'power' | 'by'>): Action => ({
    asks: 'power-action',
    body: { power, ...how },
    onStore: (hands, machine, by) => requestPower(hands, machine, { power, by, ...how }),
  }),
  drain: (last: boolean): Action => ({
    asks: 'drain-node',
    body: { action: 'drain', ...(last && { last }) },
    onStore: (hands, machine, by) => requestDrain(hands, machine, { action: 'drain', by, last }),
  }),
  uncordon: (): Action => ({
    asks: 'drain-node',
    body: { action: 'uncordon' },
    onStore: (hands, machine, by) => requestDrain(hands, machine, { action: 'uncordon', by }),
  }),
  maintenance: (on: boolean): Action => ({
    asks: 'power-action',
    body: { maintenance: on },
    onStore: (hands, machine, by) => setMaintenance(hands, machine, on, by),
  }),
  retry: (): Action => ({
    asks: 'power-action',
    body: { lift: true },
    onStore: (hands, machine, by) => endQuarantine(hands, machine, by),
  }),
};

/** An embedded store belongs to its host, which runs the action; etcd is shared. */
export async function perform(
  { asks, body, onStore }: Action,
  machine: string,
  by: string,
  options: SourceOptions,
  io: Io,
): Promise<RequestResult> {
  const url = storeOf(options, io);
  if (url === undefined || url.startsWith('embedded:')) {
    if (url !== undefined) await checkHostRuns(url);
    const host = await connectTo(options, io);
    const { ok, body: said } = await host.post(`/${asks}`, { machine, by, ...body });
    if (!ok) return { ok: false, why: String(said.error ?? said.why) };
    return {
      ok: true,
      answer: String(said.answer),
      ...(said.operation ? { operation: String(said.operation) } : {}),
    };
  }
  const store = await openStore(url);
  try {
    const inventory = createInventory(store, realClock);
    const hands = { inventory, clock: realClock, owner: newId(hostname()) };
    return await onStore(hands, machine, by);
  } finally {
    await store.close();
  }
}
