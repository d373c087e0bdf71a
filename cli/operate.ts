import { readFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { type Asked, byHand, type Wish } from '../functions/power-action/by-hand.ts';
import { createInventory, type Inventory } from '../shared/adapters/inventory.ts';
import { openStore } from '../shared/adapters/store.ts';
import { type Store, StoreError } from '../shared/ports.ts';
import { realClock } from '../shared/runtime/clock.ts';
import { newId } from '../shared/runtime/ids.ts';
import type { Io } from './command.ts';

/** How a command has operations begun, and watches them. */
export interface Way {
  readonly inventory: Inventory;
  ask(machine: string, wish: Wish): Promise<Asked>;
  close(): Promise<void>;
}

export interface WayOptions {
  readonly store: string;
  readonly url: string | undefined;
}

export const whoAsks = (): string => `${userInfo().username}@${hostname()}`;

/**
 * An etcd is written to directly: whoever runs on it carries the operation out. An embedded store belongs to its
 * host alone, so that host is asked; only reading goes past it.
 */
export async function openWay({ store: address, url }: WayOptions, io: Io): Promise<Way> {
  if (!address.startsWith('embedded:')) {
    const store = await openStore(address);
    const inventory = createInventory(store, realClock);
    const hands = { inventory, clock: realClock, owner: newId(hostname()) };
    return { inventory, ask: (machine, wish) => byHand(hands, machine, wish), close: () => store.close() };
  }
  const store = await openStore(address, { readOnly: true });
  const host = url ?? io.env.BAMEL_URL ?? `http://127.0.0.1:${io.env.PORT ?? '8080'}`;
  return {
    inventory: createInventory(store, realClock),
    ask: async (machine, wish) => {
      await checkHostRuns(address);
      return askHost(host, machine, wish, io);
    },
    close: () => store.close(),
  };
}

/** Whoever can open the file to write has found it without an owner. */
async function checkHostRuns(address: string): Promise<void> {
  let writer: Store;
  try {
    writer = await openStore(address);
  } catch (error) {
    if (error instanceof StoreError) return;
    throw error;
  }
  await writer.close();
  throw new Error(`no host runs on ${address}: nobody would carry it out. Start one, then ask again`);
}

async function askHost(host: string, machine: string, wish: Wish, { env }: Io): Promise<Asked> {
  const token = env.BAMEL_TOKEN_FILE && (await readFile(env.BAMEL_TOKEN_FILE, 'utf8')).trim();
  let answer: Response;
  try {
    answer = await fetch(new URL('/power-action', host), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ machine, ...wish }),
    });
  } catch (cause) {
    throw new Error(`the host does not answer at ${host}: set BAMEL_URL or give --url`, { cause });
  }
  const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  if (!answer.ok)
    return { ok: false, why: String(body.error ?? body.why ?? `the host answered ${answer.status}`) };
  return {
    ok: true,
    answer: String(body.answer),
    ...(body.operation ? { operation: String(body.operation) } : {}),
  };
}
