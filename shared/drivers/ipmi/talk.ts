import type { PowerError } from '../../ports/power.ts';
import type { Fail } from '../common/failure.ts';
import type { CipherSuite } from './suites.ts';
import type { Retransmit, Transport } from './transport.ts';

/** Who logs in, and as what. */
export interface Login {
  /** What the credentials are called, for messages. */
  readonly name: string;
  readonly username: Buffer;
  readonly password: Buffer;
  readonly kg: Buffer | undefined;
  readonly privilege: Privilege;
  /** The first that the BMC knows is used. */
  readonly suites: readonly CipherSuite[];
}

export interface Privilege {
  readonly name: string;
  readonly level: number;
}

/** All that one conversation with a BMC needs. */
export interface Talk {
  readonly line: Transport;
  readonly login: Login;
  readonly retransmit: Retransmit;
  readonly signal: AbortSignal;
  readonly fail: Fail;
}

/**
 * Why a conversation is begun again from the start, and the error that it is if it stays so. With `doubt` the
 * BMC did answer: a single packet that got damaged is believed to be one only once.
 */
export class Restart extends Error {
  override readonly name = 'Restart';
  readonly lastly: PowerError;
  readonly doubt: boolean;
  constructor(lastly: PowerError, { doubt = false } = {}) {
    super(lastly.message);
    this.lastly = lastly;
    this.doubt = doubt;
  }
}

/** No response: the packets got lost, or a time-out. Either way the effect is unknown. */
export function unanswered({ signal, fail }: Talk, what: string): Error {
  const timeout = fail('timeout', `its BMC did not answer ${what} in time`);
  return signal.aborted ? timeout : new Restart(timeout);
}
