import { functionTable } from '../../functions/index.ts';

export interface Deployed {
  readonly name: string;
  readonly wakesOn: readonly string[];
  /** It answers people in a browser: no event wakes it. */
  readonly forPeople?: true;
}

/**
 * The programs of a serverless deployment, each in its own process. Bundles and manifests are generated from
 * this.
 */
export const deployed: readonly Deployed[] = [
  ...functionTable.map(({ definition: { name, wakesOn } }) => ({ name, wakesOn })),
  { name: 'console', wakesOn: [], forPeople: true },
];
