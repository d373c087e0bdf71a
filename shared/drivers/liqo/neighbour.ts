import { z } from 'zod';
import type { KubeObjects } from '../../ports/kubernetes-objects.ts';

export const Conditions = z
  .array(
    z.object({
      type: z.string(),
      status: z.string(),
      reason: z.string().optional(),
      message: z.string().optional(),
    }),
  )
  .optional();

export const conditionOf = (conditions: z.infer<typeof Conditions>, type: string) =>
  conditions?.find((condition) => condition.type === type);

const ForeignCluster = z.object({
  status: z.object({
    tenantNamespace: z.object({ local: z.string().optional() }).optional(),
    conditions: Conditions,
  }),
});

/** What our own cluster knows of a provider. */
export interface Neighbour {
  /** Where all about it stands. */
  readonly namespace: string;
  /** Why its API server is not reached, if so. */
  readonly silent?: string | undefined;
}

/** Liqo creates the ForeignCluster; a manual peering may use another namespace. */
export async function neighbourOf(
  objects: KubeObjects,
  provider: string,
  signal: AbortSignal,
): Promise<Neighbour> {
  const found = await objects.get(`/apis/core.liqo.io/v1beta1/foreignclusters/${provider}`, signal);
  const { tenantNamespace, conditions } = ForeignCluster.safeParse(found).data?.status ?? {};
  const server = conditionOf(conditions, 'APIServerStatus');
  return {
    namespace: tenantNamespace?.local || `liqo-tenant-${provider}`,
    silent: server?.status === 'Error' ? server.message || 'its API server does not answer' : undefined,
  };
}
