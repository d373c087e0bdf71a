import { createHmac, timingSafeEqual } from 'node:crypto';
import { uint32 } from './packet.ts';
import type { CipherSuite } from './suites.ts';

/** What both sides know by the end of the handshake, in the protocol's words RAKP 1 to 4. */
export interface Handshake {
  readonly suite: CipherSuite;
  readonly consoleSession: number;
  readonly bmcSession: number;
  readonly consoleRandom: Buffer;
  readonly bmcRandom: Buffer;
  readonly bmcGuid: Buffer;
  /** The byte of RAKP 1: privilege, and how the user is looked up. */
  readonly role: number;
  readonly username: Buffer;
  readonly password: Buffer;
  /** The BMC's own key, where one is set; without it the password takes its place. */
  readonly kg: Buffer | undefined;
}

export interface SessionKeys {
  readonly suite: CipherSuite;
  readonly integrity: Buffer;
  readonly encryption: Buffer;
  /** What RAKP 4 must hold. */
  readonly rakp4: Buffer;
}

export function rakp2Proof(shake: Handshake): Buffer {
  return hmac(shake.suite, shake.password, [
    uint32(shake.consoleSession),
    uint32(shake.bmcSession),
    shake.consoleRandom,
    shake.bmcRandom,
    shake.bmcGuid,
    user(shake),
  ]);
}

export function rakp3Proof(shake: Handshake): Buffer {
  return hmac(shake.suite, shake.password, [shake.bmcRandom, uint32(shake.consoleSession), user(shake)]);
}

export function sessionKeys(shake: Handshake): SessionKeys {
  const { suite } = shake;
  const sik = hmac(suite, shake.kg ?? shake.password, [shake.consoleRandom, shake.bmcRandom, user(shake)]);
  // Twenty bytes whatever the hash is.
  const derived = (constant: number) => hmac(suite, sik, [Buffer.alloc(20, constant)]);
  const proof = hmac(suite, sik, [shake.consoleRandom, uint32(shake.bmcSession), shake.bmcGuid]);
  return {
    suite,
    integrity: derived(1),
    encryption: derived(2).subarray(0, 16),
    rakp4: proof.subarray(0, suite.signatureBytes),
  };
}

export function signature({ suite, integrity }: SessionKeys, signed: Buffer): Buffer {
  return hmac(suite, integrity, [signed]).subarray(0, suite.signatureBytes);
}

export const same = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

const user = ({ role, username }: Handshake): Buffer =>
  Buffer.concat([Buffer.from([role, username.length]), username]);

function hmac(suite: CipherSuite, key: Buffer, parts: readonly Buffer[]): Buffer {
  const mac = createHmac(suite.hash, key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
