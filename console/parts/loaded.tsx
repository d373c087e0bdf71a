import type { ComponentChildren } from 'preact';
import { moment } from '../format.ts';
import { now } from '../state/clock.ts';
import { hashOf } from '../state/place.ts';
import { type Resource, retry } from '../state/resource.ts';

interface Props<Data> {
  readonly of: Resource<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** The data; and why there is none, or how old it is, with a way out. */
export function Loaded<Data>({ of, children }: Props<Data>) {
  const data = of.data.value;
  const problem = of.problem.value;
  if (data === undefined && problem === undefined) return <p class="quiet">Loading…</p>;
  return (
    <>
      {problem !== undefined && (
        <div class="problem" role="alert">
          <p>{problem.message}</p>
          <p class="choices-left">
            {data === undefined ? (
              <a href={hashOf('racks')}>Back to the racks</a>
            ) : (
              <span class="quiet">What you see is of {moment(of.readAt.value, now.value)}.</span>
            )}
            {!problem.final && (
              <button type="button" onClick={() => retry(of)}>
                Try again
              </button>
            )}
          </p>
        </div>
      )}
      {data !== undefined && children(data)}
    </>
  );
}
