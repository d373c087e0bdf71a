import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import {
  type Handshake,
  rakp2Proof,
  rakp3Proof,
  type SessionKeys,
  same,
  sessionKeys,
} from '../../../shared/drivers/ipmi/keys.ts';
import { checksum } from '../../../shared/drivers/ipmi/message.ts';
import {
  payload,
  unwrapPlus,
  unwrapSessionless,
  wrapPlus,
  wrapSessionless,
} from '../../../shared/drivers/ipmi/packet.ts';
import { open, seal } from '../../../shared/drivers/ipmi/seal.ts';
import { type CipherSuite, cipherSuites } from '../../../shared/drivers/ipmi/suites.ts';
import { credentials } from '../harness.ts';
import { answerCommand, type Chassis, newChassis } from './ipmi-chassis.ts';

export interface IpmiBmcOptions {
  readonly suites?: readonly number[];
  readonly kg?: string;
  readonly mostSessions?: number;
  /** What the user may be at most: 2 user, 3 operator, 4 administrator. */
  readonly privilege?: number;
  /** Answers with this RMCP+ status instead of doing the step. */
  readonly refuse?: Partial<Record<'open' | 'rakp1' | 'rakp3', number>>;
  /** Answers commands (netFn and command in hex, as "00.02") with this completion code. */
  readonly completions?: Readonly<Record<string, number>>;
  readonly onlyVersion15?: boolean;
  /** What becomes of an answer: none to lose it, more to send it more often. Named as in `received`. */
  readonly tamper?: (answer: Buffer, to: string, nth: number) => readonly Buffer[];
}

export interface IpmiBmc {
  readonly port: number;
  /** Reads what it is sent and answers nothing. */
  silent: boolean;
  /** Changing it makes ours the wrong one. */
  password: string;
  readonly chassis: Chassis;
  /** Every packet that came in, by name: "06.38", "open", "rakp1", "rakp3", "00.02" … */
  readonly received: readonly string[];
  /** Logged in and not closed. */
  readonly openSessions: number;
  readonly closedSessions: number;
  close(): Promise<void>;
}

interface Slot {
  readonly suite: CipherSuite;
  readonly consoleSession: number;
  readonly bmcSession: number;
  readonly seen: Set<number>;
  shake?: Handshake;
  keys?: SessionKeys;
  sent: number;
}

/** A BMC that speaks RMCP+ as the driver should hear it, and breaks as the test wants it to. */
export async function startIpmiBmc(options: IpmiBmcOptions = {}): Promise<IpmiBmc> {
  const { suites = [3, 17], mostSessions = 4, refuse = {}, completions = {} } = options;
  const chassis = newChassis();
  const received: string[] = [];
  const slots = new Map<number, Slot>();
  const counts = new Map<string, number>();
  let nextSession = 0x0a00_0000;
  let closed = 0;
  const socket = createSocket('udp4');

  const answer = (to: string, packet: Buffer, { port, address }: RemoteInfo) => {
    const nth = (counts.get(to) ?? 0) + 1;
    counts.set(to, nth);
    for (const out of options.tamper?.(packet, to, nth) ?? [packet]) socket.send(out, port, address);
  };
  const plain = (type: number, body: readonly number[]) =>
    wrapPlus({ type, session: 0, sequence: 0, payload: Buffer.from(body) });

  const openSession = (body: Buffer): readonly number[] => {
    const tag = body.readUInt8(0);
    const suite = Object.values(cipherSuites).find(
      ({ id, authentication, integrity }) =>
        suites.includes(id) && body[12] === authentication && body[20] === integrity,
    );
    // As short as some BMCs make it.
    if (!suite) return [tag, 0x04];
    const status = refuse.open ?? (active(slots) >= mostSessions ? 0x01 : 0);
    if (status) return [tag, status];
    const slot = {
      suite,
      consoleSession: body.readUInt32LE(4),
      bmcSession: ++nextSession,
      seen: new Set<number>(),
      sent: 0,
    };
    slots.set(slot.bmcSession, slot);
    return [
      tag,
      0,
      4,
      0,
      ...uint32(slot.consoleSession),
      ...uint32(slot.bmcSession),
      ...body.subarray(8, 32),
    ];
  };

  const rakp1 = (body: Buffer): readonly number[] => {
    const slot = slots.get(body.readUInt32LE(4));
    const username = body.subarray(28, 28 + body.readUInt8(27));
    const role = body.readUInt8(24);
    const refused = (status: number) => [
      body.readUInt8(0),
      status,
      0,
      0,
      ...uint32(slot?.consoleSession ?? 0),
    ];
    if (!slot) return refused(0x02);
    if (refuse.rakp1) return refused(refuse.rakp1);
    if (username.toString() !== credentials.username) return refused(0x0d);
    if ((role & 0x0f) > (options.privilege ?? 4)) return refused(0x0a);
    slot.shake ??= {
      ...slot,
      consoleRandom: Buffer.from(body.subarray(8, 24)),
      bmcRandom: randomBytes(16),
      bmcGuid: chassis.guid,
      role,
      username: Buffer.from(username),
      password: Buffer.from(bmc.password),
      kg: options.kg ? Buffer.from(options.kg) : undefined,
    };
    const { bmcRandom, bmcGuid } = slot.shake;
    return [...refused(0), ...bmcRandom, ...bmcGuid, ...rakp2Proof(slot.shake)];
  };

  const rakp3 = (body: Buffer): readonly number[] | undefined => {
    const slot = slots.get(body.readUInt32LE(4));
    const refused = (status: number) => [
      body.readUInt8(0),
      status,
      0,
      0,
      ...uint32(slot?.consoleSession ?? 0),
    ];
    // As many do: once logged in, the step is over and not answered again.
    if (slot?.keys) return undefined;
    if (!slot?.shake) return refused(0x02);
    if (body[1] !== 0) {
      slots.delete(slot.bmcSession);
      return undefined;
    }
    if (refuse.rakp3) return refused(refuse.rakp3);
    if (!same(body.subarray(8), rakp3Proof(slot.shake))) return refused(0x0f);
    slot.keys = sessionKeys(slot.shake);
    return [...refused(0), ...slot.keys.rakp4];
  };

  const steps = new Map<
    number,
    { name: string; to: number; run: (body: Buffer) => readonly number[] | undefined }
  >([
    [payload.openSessionRequest, { name: 'open', to: payload.openSessionResponse, run: openSession }],
    [payload.rakp1, { name: 'rakp1', to: payload.rakp2, run: rakp1 }],
    [payload.rakp3, { name: 'rakp3', to: payload.rakp4, run: rakp3 }],
  ]);

  const command = (message: Buffer, slot: Slot | undefined): { name: string; message: Buffer } => {
    const netFn = message.readUInt8(1) >> 2;
    const name = `${hex(netFn)}.${hex(message.readUInt8(5))}`;
    received.push(name);
    const data = message.subarray(6, -1);
    const [completion, ...rest] =
      completions[name] !== undefined
        ? [completions[name]]
        : answerCommand(name, data, {
            chassis,
            version15: options.onlyVersion15 === true,
            kg: options.kg !== undefined,
          });
    if (name === '06.3c' && slot && slots.delete(slot.bmcSession)) closed++;
    const head = [0x81, (netFn | 1) << 2];
    const body = [0x20, message.readUInt8(4), message.readUInt8(5), completion ?? 0xff, ...rest];
    return { name, message: Buffer.from([...head, checksum(head), ...body, checksum(body)]) };
  };

  socket.on('message', (packet, from) => {
    if (bmc.silent) return;
    const outside = unwrapSessionless(packet);
    if (outside) {
      const { name, message } = command(outside, undefined);
      return answer(name, wrapSessionless(message), from);
    }
    const wrapper = unwrapPlus(packet);
    const step = steps.get(wrapper?.type ?? -1);
    if (wrapper && step) {
      received.push(step.name);
      const body = step.run(wrapper.payload);
      return body && answer(step.name, plain(step.to, body), from);
    }
    const slot = slots.get(wrapper?.session ?? 0);
    const opened = slot?.keys && open(slot.keys, slot.bmcSession, packet);
    if (!slot?.keys || !opened || slot.seen.has(opened.sequence)) return;
    slot.seen.add(opened.sequence);
    const { name, message } = command(opened.message, slot);
    answer(name, seal(slot.keys, slot.consoleSession, ++slot.sent, message), from);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const bmc: IpmiBmc = {
    silent: false,
    password: credentials.password,
    port: socket.address().port,
    chassis,
    received,
    get openSessions() {
      return active(slots);
    },
    get closedSessions() {
      return closed;
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
  return bmc;
}

const active = (slots: ReadonlyMap<number, Slot>): number =>
  [...slots.values()].filter(({ keys }) => keys !== undefined).length;

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

function uint32(value: number): readonly number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return [...bytes];
}
