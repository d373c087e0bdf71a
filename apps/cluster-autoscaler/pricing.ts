import { status } from '@grpc/grpc-js';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import type { Group } from './mirror.ts';
import { RpcError } from './rpc-error.ts';

/** google.protobuf.Timestamp. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

const hours = (from: Timestamp | null, to: Timestamp | null): number => {
  const at = (time: Timestamp | null): number => (time?.seconds ?? 0) + (time?.nanos ?? 0) / 1e9;
  return Math.max(0, (at(to) - at(from)) / 3_600);
};

/** What the machine costs in that time: its rate, or what it draws when it is full, at the price of a kWh. */
export function machinePrice(
  { name, pricing, watts }: MachineSpec,
  kWhPrice: number | undefined,
  from: Timestamp | null,
  to: Timestamp | null,
): number {
  if (pricing?.hourlyRate !== undefined) return pricing.hourlyRate * hours(from, to);
  if (watts && kWhPrice !== undefined) return (watts.max / 1_000) * kWhPrice * hours(from, to);
  throw new RpcError(
    status.UNIMPLEMENTED,
    `machine ${name} has no price: give it pricing.hourlyRate, or watts and a price of a kWh`,
  );
}

/** The same for every pod: the lowest rate there is. */
export function podPrice(groups: readonly Group[], from: Timestamp | null, to: Timestamp | null): number {
  const rates = groups.flatMap(({ members }) => members.flatMap(({ spec }) => spec.pricing?.podRate ?? []));
  if (rates.length === 0)
    throw new RpcError(status.UNIMPLEMENTED, 'no machine has pricing.podRate: the expander "price" needs it');
  return Math.min(...rates) * hours(from, to);
}

const usualGpuLabels = ['nvidia.com/gpu.product', 'amd.com/gpu.product-name', bamelKeys.gpu] as const;

const gpuMachines = (groups: readonly Group[]): MachineSpec[] =>
  groups.flatMap(({ members }) =>
    members
      .map(({ spec }) => spec)
      .filter(({ resources }) =>
        Object.entries(resources).some(([name, amount]) => name.endsWith('/gpu') && amount > 0),
      ),
  );

export function gpuLabel(groups: readonly Group[]): string {
  const machines = gpuMachines(groups);
  return (
    usualGpuLabels.find((label) => machines.some(({ labels }) => labels?.[label] !== undefined)) ??
    bamelKeys.gpu
  );
}

export function gpuTypes(groups: readonly Group[]): string[] {
  const label = gpuLabel(groups);
  return [...new Set(gpuMachines(groups).flatMap(({ labels }) => labels?.[label] ?? []))].sort();
}
