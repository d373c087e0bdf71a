import { parsed, retryAfterMs } from '../../http/answers.ts';
import type { HttpAnswer } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Client } from './client.ts';
import { Task } from './schema.ts';

const pollMs = 1000;
/** States of Redfish that a task does not come back from. */
const failedStates = new Set(['Exception', 'Killed', 'Cancelled', 'Interrupted']);
const runningStates = new Set(['New', 'Starting', 'Running', 'Pending', 'Service', 'Stopping']);

/**
 * Follows a 202 to its end, for as long as the signal lasts. A task that ended well is still no proof of anything: the
 * caller looks for itself.
 */
export async function finished(client: Client, clock: Clock, accepted: HttpAnswer): Promise<void> {
  const { peer, signal } = client;
  let answer = accepted;
  // Some send a monitor that answers 202 until it is done, some the task itself, which always answers 200.
  let monitor = locationOf(answer);
  while (monitor !== undefined) {
    await clock.sleep(retryAfterMs(answer.headers['retry-after']) ?? pollMs, signal);
    if (signal.aborted)
      throw peer.fail('timeout', `${peer.who} took the request but has not finished its task`);
    answer = await client.send('GET', monitor);
    // Forgotten already, as some do with what is done.
    if (answer.status === 404 || answer.status === 410) return;
    client.accepted(answer);
    const state = answer.text ? parsed(peer, Task, answer, 'task').TaskState : undefined;
    if (state && failedStates.has(state)) throw peer.fail('refused', `${peer.who}'s task ended as ${state}`);
    const running = answer.status === 202 || runningStates.has(state ?? '');
    if (!running) return;
    monitor = locationOf(answer) ?? monitor;
  }
}

function locationOf({ status, headers }: HttpAnswer): string | undefined {
  return status === 202 && typeof headers.location === 'string' ? headers.location : undefined;
}
