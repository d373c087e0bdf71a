import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Chances from 0 to 1, for every packet in either direction. */
export interface RelayFaults {
  readonly loss?: number;
  readonly duplicate?: number;
  readonly reorder?: number;
  readonly corrupt?: number;
}

export interface Relay {
  readonly port: number;
  readonly packets: number;
  readonly lost: number;
  close(): Promise<void>;
}

/** A bad line to a UDP port of 127.0.0.1. The same seed makes the same choices, packet by packet. */
export async function startRelay(target: number, seed: number, faults: RelayFaults): Promise<Relay> {
  const chance = seeded(seed);
  const outer = createSocket('udp4');
  const inner = new Map<number, Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let packets = 0;
  let lost = 0;

  const pass = (packet: Buffer, send: (packet: Buffer) => void) => {
    packets++;
    const [loss, duplicate, reorder, corrupt] = [chance(), chance(), chance(), chance()];
    if (loss < (faults.loss ?? 0)) return void lost++;
    const sent = corrupt < (faults.corrupt ?? 0) ? damaged(packet, corrupt) : packet;
    if (duplicate < (faults.duplicate ?? 0)) send(sent);
    if (reorder >= (faults.reorder ?? 0)) return send(sent);
    // Long enough for a later packet to overtake it.
    const timer = setTimeout(() => {
      timers.delete(timer);
      send(sent);
    }, 30);
    timers.add(timer);
  };

  const towards = (port: number): Socket => {
    const known = inner.get(port);
    if (known) return known;
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    socket.on('message', (packet) => pass(packet, (out) => outer.send(out, port, '127.0.0.1')));
    inner.set(port, socket);
    return socket;
  };

  outer.on('message', (packet, { port }) =>
    pass(packet, (out) => towards(port).send(out, target, '127.0.0.1')),
  );
  outer.bind(0, '127.0.0.1');
  await once(outer, 'listening');
  return {
    port: outer.address().port,
    get packets() {
      return packets;
    },
    get lost() {
      return lost;
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of [outer, ...inner.values()]) {
        socket.close();
        await once(socket, 'close');
      }
    },
  };
}

function damaged(packet: Buffer, chance: number): Buffer {
  const copy = Buffer.from(packet);
  const at = Math.floor(chance * 1e6) % copy.length;
  copy[at] = (copy[at] ?? 0) ^ 0x55;
  return copy;
}

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
