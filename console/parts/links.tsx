import { hashOf } from '../state/place.ts';

export const MachineLink = ({ name }: { readonly name: string }) => (
  <a class="name" href={hashOf('machines', name)}>
    {name}
  </a>
);

export const DecisionLink = ({ id, children }: { readonly id: string; readonly children?: string }) => (
  <a href={hashOf('decisions', id)}>{children ?? id}</a>
);
