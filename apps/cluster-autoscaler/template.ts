import { status } from '@grpc/grpc-js';
import type { Resources } from '../../shared/core/cluster/resources.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import { madeShelves } from '../../shared/core/scale-up/on-demand.ts';
import { commonLabels, futureNode } from '../../shared/core/simulate/machine-node.ts';
import type { Group } from './mirror.ts';
import { RpcError } from './rpc-error.ts';

/** The node that one more machine of the group would be, as a v1.Node. DaemonSets are the caller's to add. */
export function templateNode(group: Group, lent: Machine | undefined): object {
  const machine = lent ?? typicalMachine(group);
  const { offers } = group.spec.template.provider ?? {};
  // Without bytes the Cluster Autoscaler crashes; with this it goes by the nodes there are.
  if (!machine)
    throw new RpcError(
      status.UNIMPLEMENTED,
      offers
        ? `pool ${group.name} has no usable offer: bamel offers list says why`
        : `pool ${group.name} has no machine to describe: add one to it`,
    );
  const name = `template-${group.name}`;
  const { labels, taints, allocatable } = futureNode(
    { ...machine, spec: { ...machine.spec, name } },
    group.spec,
    commonLabels([]),
    undefined,
  );
  const amounts = quantities(allocatable);
  return {
    metadata: { name, labels: { 'kubernetes.io/arch': 'amd64', ...labels } },
    spec: { taints: taints.map(({ key, value = '', effect }) => ({ key, value, effect })) },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Template', message: 'as its machine is described' },
      ],
    },
  };
}

/** The machine made on demand, or the most common one of the group; of as many, the larger. */
function typicalMachine({ spec, members }: Group): Machine | undefined {
  const [made] = madeShelves([spec], new Set(), 0);
  if (made) return made.example;
  const kinds = new Map<string, { example: Machine; count: number }>();
  for (const machine of members) {
    if (machine.spec.maintenance) continue;
    const { resources, labels, taints } = machine.spec;
    const key = JSON.stringify([
      Object.entries(resources).sort(),
      Object.entries(labels ?? {}).sort(),
      taints,
    ]);
    const kind = kinds.get(key) ?? { example: machine, count: 0 };
    kinds.set(key, { ...kind, count: kind.count + 1 });
  }
  const size = ({ spec: { resources } }: Machine): number =>
    (resources.cpu ?? 0) * 2 ** 30 + (resources.memory ?? 0);
  const [first] = [...kinds.values()].sort((a, b) => b.count - a.count || size(b.example) - size(a.example));
  return first?.example;
}

const quantities = (resources: Resources): Record<string, { string: string }> =>
  Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [
      name,
      { string: name === 'cpu' ? `${amount}m` : String(Math.floor(amount)) },
    ]),
  );
