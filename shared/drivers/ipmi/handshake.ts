import { randomBytes, randomInt } from 'node:crypto';
import { type Handshake, rakp2Proof, rakp3Proof, same, sessionKeys } from './keys.ts';
import { decodeAnswer, encodeRequest, type Request } from './message.ts';
import {
  type PayloadType,
  payload,
  uint32,
  unwrapPlus,
  unwrapSessionless,
  wrapPlus,
  wrapSessionless,
} from './packet.ts';
import { createSession, type Session } from './session.ts';
import {
  anotherSuiteMayDo,
  commandRefused,
  handshakeRefused,
  rakp2NotProven,
  rakp4NotProven,
} from './status.ts';
import type { CipherSuite } from './suites.ts';
import { Restart, type Talk, unanswered } from './talk.ts';

/** The user is looked up by name alone, whatever the privilege. */
const byName = 0x10;

/** Logs in: a session, with the first suite that the BMC knows. Those it does not know are taken off the list. */
export async function handshake(talk: Talk, suites: CipherSuite[]): Promise<Session> {
  const { kgSet } = await askCapabilities(talk);
  for (;;) {
    const [suite, ...others] = suites;
    if (!suite) throw new Error('a login has at least one cipher suite');
    const opened = await establish(talk, suite, kgSet);
    if (typeof opened !== 'number') return opened;
    if (others.length === 0) throw handshakeRefused(talk, opened, `cipher suite ${suite.id}`);
    suites.shift();
  }
}

async function askCapabilities(talk: Talk): Promise<{ kgSet: boolean }> {
  const { line, retransmit, signal, login, fail } = talk;
  const what = 'what it supports';
  // Of the channel that this comes in on, with the fields that IPMI 2.0 added.
  const request: Request = { netFn: 0x06, command: 0x38, data: [0x8e, login.privilege.level] };
  const answer = await line.exchange(
    () => wrapSessionless(encodeRequest(request, 0)),
    (packet) => {
      const message = unwrapSessionless(packet);
      return message && decodeAnswer(message, request, 0);
    },
    retransmit,
    signal,
  );
  if (!answer) throw unanswered(talk, what);
  if (answer.completion !== 0) throw commandRefused(talk, answer.completion, what);
  const [, types = 0, status = 0, extended = 0] = answer.data;
  if (!(types & 0x80 && extended & 0x02))
    throw fail('config', 'its BMC does not speak IPMI 2.0 over LAN. Enable it there, or use another driver');
  return { kgSet: (status & 0x20) !== 0 };
}

/** The session, or the status with which the BMC says that another suite may do. */
async function establish(talk: Talk, suite: CipherSuite, kgSet: boolean): Promise<Session | number> {
  const { login, line } = talk;
  const tag = randomInt(256);
  const consoleSession = randomInt(1, 2 ** 32);
  const step = createStep(talk, tag, consoleSession);

  const algorithms = [suite.authentication, suite.integrity, suite.confidentiality];
  const proposal = algorithms.flatMap((algorithm, index) => [index, 0, 0, 8, algorithm, 0, 0, 0]);
  // Privilege 0 asks for the highest that the suite allows.
  const openRequest = [tag, 0, 0, 0, ...uint32(consoleSession), ...proposal];
  const opened = await step(payload.openSessionRequest, payload.openSessionResponse, openRequest, 36);
  if (anotherSuiteMayDo.has(opened.status)) return opened.status;
  if (opened.status !== 0) throw handshakeRefused(talk, opened.status, 'a session');
  // It may not grant less than what was proposed.
  if (algorithms.some((algorithm, index) => opened.body[16 + index * 8] !== algorithm))
    throw talk.fail(
      'refused',
      `its BMC answers cipher suite ${suite.id} with another, which is not accepted`,
    );
  const bmcSession = opened.body.readUInt32LE(8);

  const consoleRandom = randomBytes(16);
  const role = byName | login.privilege.level;
  const who = [role, 0, 0, login.username.length, ...login.username];
  const rakp1 = [tag, 0, 0, 0, ...uint32(bmcSession), ...consoleRandom, ...who];
  // Tells the BMC that it need not keep what it has of this login.
  const forget = () => line.send(sessionless(payload.rakp3, [tag, 0x0f, 0, 0, ...uint32(bmcSession)]));
  const second = await step(payload.rakp1, payload.rakp2, rakp1, 40).catch(async (error) => {
    if (!talk.signal.aborted) await forget();
    throw error;
  });
  if (anotherSuiteMayDo.has(second.status)) return second.status;
  if (second.status !== 0) throw handshakeRefused(talk, second.status, 'the user');
  const shake: Handshake = {
    suite,
    consoleSession,
    bmcSession,
    consoleRandom,
    bmcRandom: second.body.subarray(8, 24),
    bmcGuid: second.body.subarray(24, 40),
    role,
    ...login,
  };
  if (!same(second.body.subarray(40), rakp2Proof(shake))) {
    await forget();
    throw rakp2NotProven(talk);
  }

  const keys = sessionKeys(shake);
  const session = createSession(talk, keys, { console: consoleSession, bmc: bmcSession });
  const rakp3 = [tag, 0, 0, 0, ...uint32(bmcSession), ...rakp3Proof(shake)];
  const last = await step(payload.rakp3, payload.rakp4, rakp3, 8).catch(async (error) => {
    // The BMC may have opened it all the same, and only its answer got lost.
    await session.close();
    throw error;
  });
  if (last.status !== 0) {
    const refused = handshakeRefused(talk, last.status, 'the login');
    // "No such step any more" may be the answer to a packet that came twice.
    if (refused instanceof Restart && !refused.doubt) await session.close();
    throw refused;
  }
  if (same(last.body.subarray(8), keys.rakp4)) return session;
  // If it understands this, the keys agree and only RAKP 4 got damaged.
  const notProven = rakp4NotProven(talk, kgSet);
  throw (await session.close()) ? new Restart(notProven, { doubt: true }) : notProven;
}

interface Step {
  readonly status: number;
  /** Of full length where the status is 0. */
  readonly body: Buffer;
}

/** Sends a step of the handshake and waits for the answer to that very one. */
function createStep(talk: Talk, tag: number, consoleSession: number) {
  return async (
    type: PayloadType,
    wanted: PayloadType,
    body: readonly number[],
    length: number,
  ): Promise<Step> => {
    const accept = (packet: Buffer): Step | undefined => {
      const received = unwrapPlus(packet);
      if (received?.type !== wanted || received.payload[0] !== tag) return undefined;
      const [, status = 0] = received.payload;
      // A refusal may stop after the status.
      if (status !== 0 && received.payload.length < 8) return { status, body: received.payload };
      if (received.payload.length < (status === 0 ? length : 8)) return undefined;
      if (received.payload.readUInt32LE(4) !== consoleSession) return undefined;
      return { status, body: received.payload };
    };
    const send = () => sessionless(type, body);
    const answer = await talk.line.exchange(send, accept, talk.retransmit, talk.signal);
    if (!answer) throw unanswered(talk, 'the login');
    return answer;
  };
}

const sessionless = (type: PayloadType, body: readonly number[]): Buffer =>
  wrapPlus({ type, session: 0, sequence: 0, payload: Buffer.from(body) });
