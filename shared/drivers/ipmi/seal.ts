import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type SessionKeys, same, signature } from './keys.ts';
import { sealedIpmi, signedFrom, unwrapPlus, wrapPlus } from './packet.ts';

const block = 16;
const nextHeader = 0x07;

/** An encrypted and signed packet of a session. */
export function seal(keys: SessionKeys, session: number, sequence: number, message: Buffer): Buffer {
  const packet = wrapPlus({ type: sealedIpmi, session, sequence, payload: encrypt(keys, message) });
  // Signed in multiples of four bytes, with two behind the padding that tell its length and an end mark.
  const padding = (4 - ((packet.length - signedFrom + 2) % 4)) % 4;
  const signed = Buffer.concat([packet, Buffer.alloc(padding, 0xff), Buffer.from([padding, nextHeader])]);
  return Buffer.concat([signed, signature(keys, signed.subarray(signedFrom))]);
}

export interface Opened {
  readonly sequence: number;
  readonly message: Buffer;
}

/** The message inside, or undefined: not of this session, not signed by its key, or not whole. */
export function open(keys: SessionKeys, session: number, packet: Buffer): Opened | undefined {
  const wrapper = unwrapPlus(packet);
  if (wrapper?.type !== sealedIpmi || wrapper.session !== session || wrapper.sequence === 0) return undefined;
  const end = packet.length - keys.suite.signatureBytes;
  if (end < signedFrom + 12 + wrapper.payload.length + 2) return undefined;
  if (!same(signature(keys, packet.subarray(signedFrom, end)), packet.subarray(end))) return undefined;
  const message = decrypt(keys, wrapper.payload);
  return message && { sequence: wrapper.sequence, message };
}

function encrypt({ encryption }: SessionKeys, message: Buffer): Buffer {
  const padding = (block - ((message.length + 1) % block)) % block;
  const counted = Array.from({ length: padding }, (_, index) => index + 1);
  const iv = randomBytes(block);
  const cipher = createCipheriv('aes-128-cbc', encryption, iv).setAutoPadding(false);
  return Buffer.concat([iv, cipher.update(message), cipher.update(Buffer.from([...counted, padding]))]);
}

function decrypt({ encryption }: SessionKeys, sealed: Buffer): Buffer | undefined {
  if (sealed.length < 2 * block || sealed.length % block !== 0) return undefined;
  const cipher = createDecipheriv('aes-128-cbc', encryption, sealed.subarray(0, block)).setAutoPadding(false);
  const plain = cipher.update(sealed.subarray(block));
  const message = plain.subarray(0, plain.length - 1 - (plain.at(-1) ?? 0));
  return plain.length > (plain.at(-1) ?? 0) ? message : undefined;
}
