import { isIPv6 } from 'node:net';
import type { Session, Varbind } from 'net-snmp';
import type { Credentials } from '../../ports/power.ts';
import { pick } from '../common/credentials.ts';
import type { Fail } from '../common/failure.ts';
import type { PduOptions } from './options.ts';

const tryMs = 2_000;

export interface Agent {
  /** As resolved and checked. */
  readonly address: string;
  readonly port: number;
  readonly options: PduOptions;
  readonly credentials: Credentials;
  /** Of the credentials, for messages. */
  readonly secretName: string;
  readonly fail: Fail;
}

/** The variable an agent answers with, and nothing else it may have to say. */
export interface Answer {
  readonly type: number | undefined;
  readonly value: unknown;
}

/** The library is loaded when the first PDU is asked: most have none. */
const library = () => import('net-snmp');

/** An integer, which is all that outlets are about. */
export const integerType = 2;

/**
 * One request in a session of its own, whose socket is closed whatever happens. `value` makes it a write.
 * After the signal aborts nothing is sent, not even a repetition.
 */
export async function ask(agent: Agent, oid: string, signal: AbortSignal, value?: number): Promise<Answer> {
  const { fail } = agent;
  const late = () => fail('timeout', 'its PDU did not answer in time');
  const snmp = await library();
  if (signal.aborted) throw late();
  const session = open(snmp, agent);
  const close = () => void session.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const varbinds = await new Promise<Varbind[]>((resolve, reject) => {
      const done = (error: Error | null, found?: Varbind[]) => (error ? reject(error) : resolve(found ?? []));
      session.on('error', reject);
      if (value === undefined) session.get([oid], done);
      else session.set([{ oid, type: integerType, value }], done);
    });
    const [found] = varbinds;
    if (!found || found.oid !== oid) throw fail('refused', 'its PDU answers about something else');
    // An agent may refuse by such a value instead of an error.
    if (snmp.isVarbindError(found))
      throw fail('refused', `its PDU has no ${oid} that can be ${value === undefined ? 'read' : 'set'}`);
    return { type: found.type, value: found.value };
  } catch (error) {
    if (signal.aborted) throw late();
    throw explained(error, agent);
  } finally {
    signal.removeEventListener('abort', close);
    if (!signal.aborted) close();
  }
}

function open(snmp: Awaited<ReturnType<typeof library>>, agent: Agent): Session {
  const { address, port, options, credentials, secretName, fail } = agent;
  const { version, retries, context, authProtocol, privProtocol } = options;
  const common = {
    port,
    retries,
    timeout: tryMs,
    backoff: 1,
    transport: isIPv6(address) ? 'udp6' : 'udp4',
  } as const;
  if (version !== '3') {
    const { community } = pick(credentials, secretName, ['community']);
    return snmp.createSession(address, community, { ...common, version: version === '1' ? 0 : 1 });
  }
  const { username } = pick(credentials, secretName, ['username']);
  const { authKey, privKey } = credentials;
  if (privKey && !authKey) throw fail('config', `credentials ${secretName} have privKey without authKey`);
  // RFC 3414: shorter ones are too easily guessed, and agents refuse them.
  for (const key of [authKey, privKey])
    if (key !== undefined && key.length < 8)
      throw fail('config', `a key of credentials ${secretName} has fewer than 8 characters`);
  const user = {
    name: username,
    level: authKey ? (privKey ? 3 : 2) : 1,
    ...(authKey && { authProtocol: snmp.AuthProtocols[authProtocol], authKey }),
    ...(privKey && { privProtocol: snmp.PrivProtocols[privProtocol], privKey }),
  };
  return snmp.createV3Session(address, user, { ...common, context });
}

/** Codes of the library's ResponseInvalidError that mean that we are not who we should be. */
const authFailures = new Set([4, 5]);

/** No error of the library travels on: with it would go the request, and the community or key in it. */
function explained(error: unknown, { fail, address, secretName }: Agent): Error {
  if (!(error instanceof Error)) return fail('unreachable', `its PDU at ${address} cannot be asked`);
  if (error.name === 'PowerError') return error;
  const { code, status } = error as { code?: unknown; status?: unknown };
  if (error.name === 'RequestTimedOutError')
    // A wrong community is not answered at all.
    return fail('timeout', `its PDU at ${address} did not answer; check the address, and ${secretName}`);
  if (error.name === 'ResponseInvalidError' && authFailures.has(Number(code)))
    return fail('auth', `its PDU refused the credentials. Update ${secretName}`);
  if (error.name === 'RequestFailedError') return fail('refused', `its PDU refused: ${statusName(status)}`);
  if (error.name === 'ResponseInvalidError')
    return fail('refused', `its PDU does not answer as SNMP has it (${String(code)})`);
  return fail('unreachable', `its PDU at ${address} cannot be reached (${String(code ?? error.name)})`);
}

const statusNames: Readonly<Record<number, string>> = {
  1: 'too big',
  2: 'no such name',
  3: 'bad value',
  4: 'read only',
  5: 'general error',
  6: 'no access',
  7: 'wrong type',
  10: 'wrong value',
  12: 'inconsistent value',
  13: 'resource unavailable',
  14: 'commit failed',
  16: 'authorization error',
  17: 'not writable',
};

const statusName = (status: unknown): string => statusNames[Number(status)] ?? `error ${String(status)}`;
