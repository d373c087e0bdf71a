import type { ComponentChildren } from 'preact';
import type { Resource } from '../state/resource.ts';

interface Props<Data> {
  readonly of: Resource<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** What is there, and why it is not or may be old. */
export function Loaded<Data>({ of, children }: Props<Data>) {
  const data = of.data.value;
  const problem = of.problem.value;
  if (data === undefined && problem === undefined) return <p class="quiet">asking the host…</p>;
  return (
    <>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {data !== undefined && children(data)}
    </>
  );
}
