/** How one machine is preferred to another, in the words users write; policies.ts says what each means. */
export const policyNames = [
  'priority',
  'own',
  'health',
  'pressure',
  'watts',
  'waste',
  'preference',
  'price',
  'nearness',
  'diversity',
  'boot-time',
  'wear',
] as const;

export type PolicyName = (typeof policyNames)[number];

/** The first that tells two machines apart decides. */
export const defaultPolicies: readonly PolicyName[] = [...policyNames];
