import { connect, isIP } from 'node:net';
import { z } from 'zod';
import type { MachineSpec, Power } from '../../core/machine/machine.ts';
import { type DriverDeps, type NodeEvidence, PowerError, type PowerReading } from '../../ports/power.ts';
import { type Fail, failureOf } from './failure.ts';

/** A kubelet renews its lease every quarter of this; past it, Kubernetes calls the node unreachable. */
const leaseMs = 40_000;
const probeMs = 2_000;

export const Probe = z
  .strictObject({
    port: z.int().min(1).max(65_535).describe('a TCP port that answers while it runs, such as 22 or 10250'),
    address: z.string().min(1).optional().describe("where; when not set, mgmtAddress's host"),
  })
  .describe('asked before a silent node is taken for a machine that is off');

export type Probe = z.output<typeof Probe>;

/** The power of a machine, inferred from its node alone. */
export function powerByNode(node: NodeEvidence | undefined): Power {
  if (!node) return 'off';
  const beats = node.heartbeatAgeMs !== undefined && node.heartbeatAgeMs < leaseMs;
  // Ready is only the last word of a kubelet that may have died since; NotReady may be one that is just starting.
  if (node.ready === beats) return beats ? 'on' : 'off';
  return 'unknown';
}

/** Whether a host responds. A refused connection counts: its kernel refused it. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<boolean>;

/**
 * Reads the power of a machine from what its node does. On is certain; off is inferred and never proof: the network
 * in between may be what is down.
 */
export function createWitness(
  spec: MachineSpec,
  probe: Probe | undefined,
  deps: Pick<DriverDeps, 'nodeOf' | 'resolve'>,
  dial: Dial = answers,
): (signal: AbortSignal) => Promise<PowerReading> {
  const fail = failureOf(spec);
  const known = probe && (probe.address ?? hostIn(spec.mgmtAddress));
  if (probe && !known)
    throw fail('config', 'its probe needs an address: set probe.address, or mgmtAddress to its host');
  return async (signal) => {
    const node = await inTime(deps.nodeOf(spec), signal, fail);
    const power = powerByNode(node);
    if (power !== 'off') return { power };
    if (!probe || !known) return { power: 'off', inferred: true };
    const ask = async (address: string): Promise<boolean> => {
      const answered = await dial(address, probe.port, signal);
      if (signal.aborted) throw fail('timeout', 'its probe took too long');
      return answered;
    };
    if (await ask(await inTime(deps.resolve(known), signal, fail))) return { power: 'unknown' };
    for (const address of node?.addresses ?? []) {
      // A node may report addresses outside the allowed networks: they are not contacted.
      const allowed = await inTime(deps.resolve(address).catch(whenRefused), signal, fail);
      if (allowed && (await ask(allowed))) return { power: 'unknown' };
    }
    return { power: 'off', inferred: true };
  };
}

const whenRefused = (error: unknown): undefined => {
  if (!(error instanceof PowerError)) throw error;
};

/** The host of a URL, of host:port, or of a bare host. */
export function hostIn(address: string | undefined): string | undefined {
  if (!address || isIP(address)) return address || undefined;
  const url = URL.parse(address.includes('://') ? address : `any://${address}`);
  return url?.hostname.replace(/^\[|\]$/g, '') || undefined;
}

/** What came of it, unless the signal aborted first: that is a time-out. */
export async function inTime<Value>(work: Promise<Value>, signal: AbortSignal, fail: Fail): Promise<Value> {
  const late = () => fail('timeout', 'there was no answer in time');
  if (signal.aborted) {
    // The result is no longer needed.
    work.catch(() => undefined);
    throw late();
  }
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(late());
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The connection errors that mean that no host is there. */
const absentCodes = new Set(['EHOSTUNREACH', 'EHOSTDOWN', 'ETIMEDOUT']);

const answers: Dial = (host, port, signal) => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, signal: AbortSignal.any([signal, AbortSignal.timeout(probeMs)]) });
  socket.once('connect', () => resolve(true));
  socket.once('error', (error: NodeJS.ErrnoException) =>
    resolve(error.name !== 'AbortError' && !absentCodes.has(error.code ?? '')),
  );
  return promise.finally(() => socket.destroy());
};
