/** An IPMI message: a request to the BMC and its response, without the session wrapper. */
export interface Request {
  readonly netFn: number;
  readonly command: number;
  readonly data: readonly number[];
}

export interface Answer {
  /** 0 is success. */
  readonly completion: number;
  readonly data: Buffer;
}

const bmc = 0x20;
const console = 0x81;

export function encodeRequest({ netFn, command, data }: Request, sequence: number): Buffer {
  const head = [bmc, netFn << 2];
  const body = [console, sequence << 2, command, ...data];
  return Buffer.from([...head, checksum(head), ...body, checksum(body)]);
}

/** The answer to that very request, or undefined. */
export function decodeAnswer(message: Buffer, request: Request, sequence: number): Answer | undefined {
  if (message.length < 8) return undefined;
  if (checksum(message.subarray(0, 2)) !== message[2]) return undefined;
  if (checksum(message.subarray(3, -1)) !== message.at(-1)) return undefined;
  const ours =
    message[1] === (request.netFn | 1) << 2 && message[4] === sequence << 2 && message[5] === request.command;
  return ours ? { completion: message.readUInt8(6), data: message.subarray(7, -1) } : undefined;
}

/** What makes the sum of all bytes zero. */
export function checksum(bytes: Iterable<number>): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return -sum & 0xff;
}
