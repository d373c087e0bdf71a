import { z } from 'zod';
import { bamelKeys } from '../../core/cluster/names.ts';
import { fromQuantities, type Resources } from '../../core/cluster/resources.ts';
import type { MachineSpec } from '../../core/machine/machine.ts';
import type { KubeObject, KubeObjects } from '../../ports/kubernetes-objects.ts';
import { PowerError } from '../../ports/power.ts';
import { Conditions, conditionOf, type Neighbour } from './neighbour.ts';
import type { Options } from './options.ts';

/** How long a provider has to answer to another size; a resize takes half a second. */
const answerMs = 30_000;

const Quantities = z.record(z.string(), z.union([z.string(), z.number()])).optional();
const Slice = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.object({ resources: Quantities }).optional(),
  status: z
    .object({
      conditions: Conditions,
      resources: Quantities,
      nodeLabels: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});
export type Slice = z.infer<typeof Slice>;

/** All that there is of a machine in our own cluster. */
export interface Parts {
  readonly slice?: Slice | undefined;
  readonly virtualNode?: KubeObject | undefined;
  readonly node?: KubeObject | undefined;
}

const api = '/apis/authentication.liqo.io/v1beta1';
const sliceType = 'resourceslices';

export const slicePath = (namespace: string, name: string): string =>
  `${api}/namespaces/${namespace}/${sliceType}/${name}`;

export async function partsOf(
  objects: KubeObjects,
  { namespace }: Pick<Neighbour, 'namespace'>,
  name: string,
  signal: AbortSignal,
): Promise<Parts> {
  const [slice, virtualNode, node] = await Promise.all([
    objects.get(slicePath(namespace, name), signal),
    objects.get(`/apis/offloading.liqo.io/v1beta1/namespaces/${namespace}/virtualnodes/${name}`, signal),
    objects.get(`/api/v1/nodes/${name}`, signal),
  ]);
  return { slice: slice && ours(slice), virtualNode, node };
}

/** Undefined: it was not created by us. */
function ifOurs(object: KubeObject): Slice | undefined {
  const slice = Slice.safeParse(object).data;
  return slice?.metadata.labels?.[bamelKeys.machine] === object.metadata.name ? slice : undefined;
}

/** A slice of the same name that we did not create is neither used nor deleted. */
function ours(object: KubeObject): Slice {
  const slice = ifOurs(object);
  if (slice) return slice;
  const { name, namespace } = object.metadata;
  throw new PowerError(
    'wrong-machine',
    `ResourceSlice ${namespace}/${name} was not made by us: it lacks the label ${bamelKeys.machine}=${name}`,
  );
}

/** Every slice that we made, of whatever provider. */
export async function ourSlices(objects: KubeObjects, signal: AbortSignal): Promise<Slice[]> {
  const slices = await objects.list(`${api}/${sliceType}`, bamelKeys.machine, signal);
  return slices.flatMap((slice) => ifOurs(slice) ?? []);
}

/** Why its provider does not give it, if so. */
export function denialOf({ status }: Slice): string | undefined {
  const denied = status?.conditions?.find((condition) => condition.status === 'Denied');
  return denied && [denied.reason, denied.message].filter(Boolean).join(': ');
}

export const isAccepted = ({ status }: Slice): boolean =>
  ['Authentication', 'Resources'].every(
    (type) => conditionOf(status?.conditions, type)?.status === 'Accepted',
  );

/** Of the machine's resources, what was granted. Undefined: its provider has not answered to this size yet. */
export function grantedOf(
  { metadata, status }: Slice,
  { resources }: MachineSpec,
  now: number,
): Resources | undefined {
  const asked = Date.parse(metadata.annotations?.[bamelKeys.resizedAt] ?? '');
  if (!status?.resources || now - asked < answerMs) return undefined;
  const granted = fromQuantities(status.resources);
  return Object.fromEntries(Object.keys(resources).map((name) => [name, granted[name] ?? 0]));
}

/** Whether the machine is to have another size than was asked for, and than was granted of that. */
export function isOutgrown({ spec, status }: Slice, { resources }: MachineSpec): boolean {
  const differs = (size: z.infer<typeof Quantities>): boolean => {
    const there = fromQuantities(size);
    return Object.entries(resources).some(([name, amount]) => there[name] !== amount);
  };
  return differs(spec?.resources) && differs(status?.resources);
}

const quantities = (resources: Resources): Record<string, string> =>
  Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [name, name === 'cpu' ? `${amount}m` : String(amount)]),
  );

export async function ensureSlice(
  objects: KubeObjects,
  namespace: string,
  provider: string,
  { name, resources }: MachineSpec,
  options: Options,
  signal: AbortSignal,
): Promise<Slice> {
  const made = await objects.ensure(
    slicePath(namespace, name),
    {
      apiVersion: 'authentication.liqo.io/v1beta1',
      kind: 'ResourceSlice',
      metadata: {
        name,
        namespace,
        labels: {
          [bamelKeys.machine]: name,
          'liqo.io/remote-cluster-id': provider,
          'liqo.io/remoteID': provider,
          'liqo.io/replication': 'true',
        },
        annotations: { 'liqo.io/create-virtual-node': 'true' },
      },
      spec: { class: options.class, providerClusterID: provider, resources: quantities(resources) },
    },
    signal,
  );
  return ours(made);
}

export async function resizeSlice(
  objects: KubeObjects,
  namespace: string,
  { name, resources }: MachineSpec,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const change = {
    metadata: { annotations: { [bamelKeys.resizedAt]: new Date(now).toISOString() } },
    spec: { resources: quantities(resources) },
  };
  await objects.patch(slicePath(namespace, name), change, signal);
}
