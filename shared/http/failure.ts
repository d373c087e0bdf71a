import type { PowerError } from '../ports/power.ts';

/** Creates the error that a caller of HTTP throws. The message never contains what was sent. */
export type Fail = (code: PowerError['code'], message: string, retryAfterMs?: number) => PowerError;
