/** RMCP version 6, no acknowledgement wanted, class IPMI. */
const rmcp = Buffer.from([0x06, 0x00, 0xff, 0x07]);
const unauthenticated = 0x00;
const rmcpPlus = 0x06;

export const payload = {
  ipmi: 0x00,
  openSessionRequest: 0x10,
  openSessionResponse: 0x11,
  rakp1: 0x12,
  rakp2: 0x13,
  rakp3: 0x14,
  rakp4: 0x15,
} as const;

export type PayloadType = (typeof payload)[keyof typeof payload];

const encryptedBit = 0x80;
const signedBit = 0x40;
export const sealedIpmi = payload.ipmi | encryptedBit | signedBit;

/** Outside of any session, in the form that IPMI 1.5 had. */
export function wrapSessionless(message: Buffer): Buffer {
  return Buffer.concat([rmcp, Buffer.from([unauthenticated, ...Array(8).fill(0), message.length]), message]);
}

export function unwrapSessionless(packet: Buffer): Buffer | undefined {
  if (packet.length < 14 || !startsRight(packet, unauthenticated)) return undefined;
  const length = packet.readUInt8(13);
  return packet.length < 14 + length ? undefined : packet.subarray(14, 14 + length);
}

export interface PlusPacket {
  /** Payload type with the bits for encrypted and signed. */
  readonly type: number;
  readonly session: number;
  readonly sequence: number;
  readonly payload: Buffer;
}

/** RMCP+ without what signs it. */
export function wrapPlus({ type, session, sequence, payload: body }: PlusPacket): Buffer {
  const head = Buffer.alloc(12);
  head[0] = rmcpPlus;
  head[1] = type;
  head.writeUInt32LE(session, 2);
  head.writeUInt32LE(sequence, 6);
  head.writeUInt16LE(body.length, 10);
  return Buffer.concat([rmcp, head, body]);
}

/** Reads the wrapper and looks neither at signature nor encryption. */
export function unwrapPlus(packet: Buffer): PlusPacket | undefined {
  if (packet.length < 16 || !startsRight(packet, rmcpPlus)) return undefined;
  const length = packet.readUInt16LE(14);
  if (packet.length < 16 + length) return undefined;
  return {
    type: packet.readUInt8(5),
    session: packet.readUInt32LE(6),
    sequence: packet.readUInt32LE(10),
    payload: packet.subarray(16, 16 + length),
  };
}

/** Least significant byte first, as everything here. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Where in a packet the signed part begins. */
export const signedFrom = rmcp.length;

const startsRight = (packet: Buffer, authType: number): boolean =>
  packet[0] === rmcp[0] && packet[3] === rmcp[3] && packet[4] === authType;
