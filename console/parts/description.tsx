import type { MachineDetail } from '../../functions/api/shapes.ts';
import { duration, resources, watts } from '../format.ts';

/** What it is, where it stands, and what its sensors say. */
export function Description({ machine }: { readonly machine: MachineDetail }) {
  const { health, boot, drain } = machine;
  const rows: readonly (readonly [string, string])[] = [
    ['Pool', machine.pool],
    ['Place', [machine.zone, machine.rack, machine.powerCircuit].filter(Boolean).join(' / ') || 'not said'],
    ['Has', resources(machine.resources)],
    ['In use', machine.requested ? resources(machine.requested) : 'nothing'],
    [
      'Watts',
      `${watts(machine.watts.now)} (idle ${watts(machine.watts.idle)}, at most ${watts(machine.watts.max)})`,
    ],
    ['Health', [health.status, ...health.problems].join('; ')],
    ['Inlet', health.celsius === undefined ? 'not measured' : `${health.celsius} °C`],
    ['Usual boot', boot.learnedMs === undefined ? 'not learned yet' : duration(boot.learnedMs)],
    ...(drain
      ? [
          [
            'Drain',
            `${drain.podsLeft} of ${drain.podsTotal} pods left${drain.waitingFor ? `, waits for ${drain.waitingFor}` : ''}`,
          ] as const,
        ]
      : []),
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
