import { type AllResources, byAge, type Resource, refOf } from '../../shared/ports/resources.ts';
import { AutoscalerBinding, selects } from '../../shared/schema/selector.ts';
import { memoize } from './memoize.ts';

/** The autoscaler that operates a machine: exactly one may. */
export type Claim =
  | { readonly kind: 'bound'; readonly by: Resource }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly by: readonly Resource[] };

/** The API server validates it with the same schema; an invalid one selects nothing. */
export const bindingOf = memoize(({ spec: { selectors, deletionPolicy } }): AutoscalerBinding | undefined => {
  const parsed = AutoscalerBinding.safeParse({ selectors, deletionPolicy });
  return parsed.success ? parsed.data : undefined;
});

/**
 * An autoscaler with deletionPolicy power-off keeps its machines until it is deleted; others release them at
 * once.
 */
const isClaiming = (autoscaler: Resource): boolean =>
  !autoscaler.deleting || bindingOf(autoscaler)?.deletionPolicy === 'power-off';

/** Autoscalers select machines of their own namespace, by the labels of the machine and of its pool. */
export function claimOn(node: Resource, { autoscaler, pool }: AllResources): Claim {
  const poolLabels =
    pool.find(({ namespace, name }) => namespace === node.namespace && name === node.spec.pool)?.labels ?? {};
  const by = autoscaler
    .filter(({ namespace }) => namespace === node.namespace)
    .filter(isClaiming)
    .filter((one) => {
      const binding = bindingOf(one);
      return (
        binding &&
        selects(binding.selectors?.machines, node.labels) &&
        selects(binding.selectors?.pools, poolLabels)
      );
    })
    .sort(byAge);
  const [first, ...others] = by;
  if (!first) return { kind: 'none' };
  return others.length > 0 ? { kind: 'several', by } : { kind: 'bound', by: first };
}

export const namesOf = (resources: readonly Resource[]): string => resources.map(refOf).join(' and ');
