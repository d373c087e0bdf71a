import { functionTable } from '../../functions/index.ts';

export interface Deployed {
  readonly name: string;
  readonly wakesOn: readonly string[];
  /** It answers people in a browser: no event wakes it. */
  readonly forPeople?: true;
}

/** What a serverless platform runs, each in a process of its own. Bundles and manifests are made from this. */
export const deployed: readonly Deployed[] = [
  ...functionTable.map(({ definition: { name, wakesOn } }) => ({ name, wakesOn })),
  { name: 'console', wakesOn: [], forPeople: true },
];
