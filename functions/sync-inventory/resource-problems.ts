import type { z } from 'zod';
import { byAge, type Resource, refOf } from '../../shared/ports/resources.ts';
import { describeProblem, fieldProblems } from '../../shared/schema/zod-issue.ts';

/** Why a resource is not imported into the inventory. */
export interface ResourceRefusal {
  readonly reason: 'Invalid' | 'NameTaken' | 'PoolMissing' | 'NotInUse' | 'Refused';
  readonly message: string;
}

/**
 * Names of machines and pools are unique in the inventory: of several resources with one name, the stored
 * one, or else the oldest, owns it.
 */
export function ownersOf(
  all: readonly Resource[],
  storedUid: (name: string) => string | undefined,
): (resource: Resource) => Resource {
  const byName = Map.groupBy([...all].sort(byAge), ({ name }) => name);
  return (resource) => {
    const sharing = byName.get(resource.name) ?? [];
    const stored = sharing.length > 1 ? storedUid(resource.name) : undefined;
    return sharing.find(({ uid }) => uid === stored) ?? sharing[0] ?? resource;
  };
}

export function nameTaken(resource: Resource, owner: Resource): ResourceRefusal | undefined {
  if (owner.uid === resource.uid) return undefined;
  return {
    reason: 'NameTaken',
    message: `${refOf(owner)} has this name already, and names are for all namespaces together: rename one of them`,
  };
}

/** What is wrong with a resource's spec. */
export function specProblem(schema: z.ZodType, input: object): ResourceRefusal | undefined {
  const parsed = schema.safeParse(input);
  if (parsed.success) return undefined;
  const problems = fieldProblems(schema, parsed.error).map(describeProblem);
  return { reason: 'Invalid', message: `spec.${problems.join('; spec.')}` };
}
