import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export const community = 'canary-9f3c';

/** What stands at an OID. A command written to `on` or `off` shows at `status`, as a PDU does it. */
export interface FakePdu {
  readonly port: number;
  /** Integers by OID; a text is an octet string. */
  readonly values: Map<string, number | string>;
  /** Every write, taken or not. */
  readonly writes: { readonly oid: string; readonly value: number }[];
  /** The ports it was asked from. */
  readonly clients: Set<number>;
  /** Called after a write was taken. */
  onWrite: (oid: string, value: number) => void;
  fault: 'silent' | 'garbage' | 'no-access' | 'no-such-instance' | 'other-oid' | undefined;
  close(): Promise<void>;
}

const tags = { integer: 0x02, text: 0x04, oid: 0x06, sequence: 0x30, get: 0xa0, response: 0xa2, set: 0xa3 };
const noSuchInstance = 0x81;
const noAccess = 6;

/** An SNMP agent (version 1 and 2c, one variable at a time) that knows nothing of the library the driver uses. */
export async function startPdu(): Promise<FakePdu> {
  const socket = createSocket('udp4');
  let open = true;
  const pdu: FakePdu = {
    get port() {
      return socket.address().port;
    },
    values: new Map(),
    writes: [],
    clients: new Set(),
    onWrite: () => undefined,
    fault: undefined,
    async close() {
      if (!open) return;
      open = false;
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (message, from) => {
    pdu.clients.add(from.port);
    const answer = respond(message, pdu);
    if (answer && pdu.fault !== 'silent') socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return pdu;
}

function respond(message: Buffer, pdu: FakePdu): Buffer | undefined {
  const [version, name, request] = children(children(message)[0]?.content);
  // A stranger is not answered.
  if (!version || !request || name?.content.toString() !== community) return undefined;
  const [id, , , list] = children(request.content);
  const [oid, value] = children(children(list?.content)[0]?.content);
  if (!id || !oid || !value) return undefined;
  const dotted = oidText(oid.content);
  let refused = 0;
  if (request.tag === tags.set) {
    const wanted = value.content.readIntBE(0, value.content.length);
    pdu.writes.push({ oid: dotted, value: wanted });
    if (pdu.fault === 'no-access') refused = noAccess;
    else if (!pdu.fault && pdu.values.has(dotted)) {
      pdu.values.set(dotted, wanted);
      pdu.onWrite(dotted, wanted);
    }
  }
  if (pdu.fault === 'garbage') return Buffer.from('not SNMP at all');
  const found = pdu.fault === 'no-such-instance' ? undefined : pdu.values.get(dotted);
  const shown =
    found === undefined
      ? encode(noSuchInstance)
      : typeof found === 'string'
        ? encode(tags.text, Buffer.from(found))
        : encode(tags.integer, integer(found));
  const about = pdu.fault === 'other-oid' ? Buffer.from([0x2b, 6, 1]) : oid.content;
  const variable = encode(
    tags.sequence,
    encode(tags.oid, about),
    refused ? encode(tags.integer, integer(1)) : shown,
  );
  const status = [refused, refused && 1].map((number) => encode(tags.integer, integer(number)));
  const body = encode(
    tags.response,
    encode(tags.integer, id.content),
    ...status,
    encode(tags.sequence, variable),
  );
  return encode(tags.sequence, encode(tags.integer, version.content), encode(tags.text, name.content), body);
}

/** Whether a message asks for something to be written: versions 1 and 2c, and 3 unless it is encrypted. */
export function isWrite(message: Buffer): boolean {
  const constructed = (tag: number) => (tag & 0x20) !== 0;
  return children(message).some(
    ({ tag, content }) => tag === tags.set || (constructed(tag) && isWrite(content)),
  );
}

interface Part {
  readonly tag: number;
  readonly content: Buffer;
}

function children(content: Buffer = Buffer.alloc(0)): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < content.length; ) {
    const [tag = 0, short = 0] = content.subarray(at, at + 2);
    const extra = short & 0x80 ? short & 0x7f : 0;
    const length = extra ? content.readUIntBE(at + 2, extra) : short;
    const start = at + 2 + extra;
    parts.push({ tag, content: content.subarray(start, start + length) });
    at = start + length;
  }
  return parts;
}

/** Short messages only. */
function encode(tag: number, ...content: readonly Buffer[]): Buffer {
  const all = Buffer.concat(content);
  const length = all.length < 128 ? [all.length] : [0x81, all.length];
  return Buffer.concat([Buffer.from([tag, ...length]), all]);
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function oidText(content: Buffer): string {
  const [first = 0] = content;
  const numbers = [Math.floor(first / 40), first % 40];
  let number = 0;
  for (const byte of content.subarray(1)) {
    number = number * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  return numbers.join('.');
}
