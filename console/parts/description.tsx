import type { MachineDetail } from '../../shared/view/shapes.ts';
import { duration, hourly, resources, watts } from '../format.ts';
import { placeOf } from '../racks.ts';

/** What it is, where it stands, and what its sensors say. */
export function Description({ machine }: { readonly machine: MachineDetail }) {
  const { health, boot } = machine;
  const { zone, rack } = placeOf(machine);
  const rows: readonly (readonly [string, string])[] = [
    ['Pool', machine.pool],
    ['Place', [zone, rack, machine.powerCircuit].filter(Boolean).join(' / ') || 'not said'],
    ...(machine.offer === undefined ? [] : [['Offer', machine.offer] as const]),
    ...(machine.hourlyRate === undefined ? [] : [['Costs', hourly(machine.hourlyRate)] as const]),
    ['Has', resources(machine.resources)],
    ['In use', machine.requested ? resources(machine.requested) : 'nothing'],
    [
      'Watts',
      `${watts(machine.watts.now)} (idle ${watts(machine.watts.idle)}, at most ${watts(machine.watts.max)})`,
    ],
    ['Health', [health.status, ...health.problems].join('; ')],
    ['Inlet', health.celsius === undefined ? 'not measured' : `${health.celsius} °C`],
    ['Usual boot', boot.learnedMs === undefined ? 'not learned yet' : duration(boot.learnedMs)],
    ['MAC address', machine.macAddress ?? 'not said'],
    ['System UUID', machine.systemUUID ?? 'not said'],
    [
      'Labels',
      Object.entries(machine.labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ') || 'none',
    ],
    [
      'Taints',
      machine.taints
        .map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
        .join(' ') || 'none',
    ],
  ];
  return (
    <dl class="description">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
