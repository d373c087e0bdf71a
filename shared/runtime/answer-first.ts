import { setTimeout as sleep } from 'node:timers/promises';

const answerFirstMs = 250;

/**
 * For a process that is started to answer one event: what it will want to hear of later is asked for when it has
 * answered. A watch misses nothing by it, because it begins where the list ended.
 */
export const answerFirst = (): Promise<void> => sleep(answerFirstMs);
