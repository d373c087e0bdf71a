import { handshake } from './handshake.ts';
import type { Request } from './message.ts';
import type { Session } from './session.ts';
import { privilegeRefused } from './status.ts';
import { Restart, type Talk } from './talk.ts';

/** Retransmission alone is not enough on a bad line: a BMC may be stuck with half a handshake. */
const mostRestarts = 3;

/**
 * Logs in, does the work, and closes the session whatever happens. On a bad line all of it is done again with
 * a new session: the work must only read and set states.
 */
export async function converse<Value>(
  talk: Talk,
  work: (session: Session) => Promise<Value>,
): Promise<Value> {
  const suites = [...talk.login.suites];
  let doubts = 0;
  for (let restarts = 0; ; restarts++)
    try {
      const session = await handshake(talk, suites);
      try {
        await raisePrivilege(talk, session);
        return await work(session);
      } finally {
        await session.close();
      }
    } catch (error) {
      if (!(error instanceof Restart)) throw error;
      if (error.doubt) doubts++;
      if (doubts > 1 || restarts === mostRestarts || talk.signal.aborted) throw error.lastly;
    }
}

async function raisePrivilege(talk: Talk, session: Session): Promise<void> {
  const request: Request = { netFn: 0x06, command: 0x3b, data: [talk.login.privilege.level] };
  const { completion } = await session.request(request, 'the privilege');
  if (completion !== 0) throw privilegeRefused(talk, completion);
}
