import { duration, moment } from '../format.ts';
import { now } from '../state/clock.ts';

/** The moment, and how long ago it was for whoever points at it. */
export function At({ time }: { readonly time: number }) {
  return (
    <time dateTime={new Date(time).toISOString()} title={`${duration(now.value - time)} ago`}>
      {moment(time, now.value)}
    </time>
  );
}

/** How long ago, or for how long still. */
export function Ago({ time }: { readonly time: number }) {
  const passed = now.value - time;
  return (
    <time dateTime={new Date(time).toISOString()} title={moment(time, now.value)}>
      {passed < 0 ? `in ${duration(-passed)}` : `${duration(passed)} ago`}
    </time>
  );
}

/** For how long by now. */
export function For({ since }: { readonly since: number }) {
  return (
    <time dateTime={new Date(since).toISOString()} title={moment(since, now.value)}>
      {duration(now.value - since)}
    </time>
  );
}
