import type { ComponentChildren } from 'preact';
import type { Resource } from '../state/resource.ts';

interface Props<Data> {
  readonly of: Resource<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** What is there, or why it is not. */
export function Loaded<Data>({ of, children }: Props<Data>) {
  const data = of.data.value;
  const problem = of.problem.value;
  if (problem !== undefined) return <p class="problem">{problem}</p>;
  if (data === undefined) return <p class="quiet">asking the host…</p>;
  return <>{children(data)}</>;
}
