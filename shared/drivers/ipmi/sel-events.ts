import type { LogEntry } from '../../core/machine/hardware-log.ts';

const systemEvent = 0x02;

/** Kinds of sensors, by number, whose events can be critical. */
const sensors: Readonly<Record<number, string>> = {
  1: 'temperature',
  2: 'voltage',
  3: 'current',
  4: 'fan',
  7: 'processor',
  8: 'power supply',
  9: 'power unit',
  12: 'memory',
  13: 'drive',
  19: 'critical interrupt',
  25: 'chip set',
};

type Offsets = Readonly<Record<number, string>>;

/** Of any kind of sensor, by the type of the event and its offset. */
const generic: Readonly<Record<number, Offsets>> = {
  1: {
    2: 'below its critical threshold',
    4: 'below its non-recoverable threshold',
    9: 'above its critical threshold',
    11: 'above its non-recoverable threshold',
  },
  7: { 2: 'critical', 3: 'non-recoverable', 5: 'critical', 6: 'non-recoverable' },
};

/** Of one kind of sensor, by that and the offset. What is only foretold or redundant is not here. */
const specific: Readonly<Record<number, Offsets>> = {
  7: {
    0: 'internal error (IERR)',
    1: 'thermal trip',
    2: 'self-test failed',
    11: 'uncorrectable machine check',
  },
  8: { 1: 'failure detected' },
  9: { 5: 'soft power control failed', 6: 'failure detected' },
  12: { 1: 'uncorrectable ECC error', 10: 'critical overtemperature' },
  13: { 1: 'fault', 5: 'in a critical array', 6: 'in a failed array' },
  19: { 4: 'PCI PERR', 5: 'PCI SERR', 8: 'bus uncorrectable error', 10: 'bus fatal error' },
  25: { 1: 'thermal trip' },
};
const specificType = 0x6f;

/** Times below count from when the BMC was started, not from 1970. */
const firstRealTime = 0x2000_0000;
const noTime = 0xffff_ffff;

/** A record of the SEL, where it says that something is critical or no longer so. */
export function eventOf(record: Buffer): LogEntry | undefined {
  if (record.readUInt8(2) !== systemEvent) return undefined;
  const [sensor = 0, number = 0, kind = 0, data = 0] = record.subarray(10, 14);
  const type = kind & 0x7f;
  const offset = data & 0x0f;
  const what = (type === specificType ? specific[sensor] : generic[type])?.[offset];
  if (what === undefined) return undefined;
  const seconds = record.readUInt32LE(3);
  const at = seconds < firstRealTime || seconds === noTime ? undefined : seconds * 1000;
  const name = `${sensors[sensor] ?? `sensor of type ${hex(sensor)}`} ${hex(number)}`;
  return {
    // The highest bit says that it has ended.
    kind: kind & 0x80 ? 'over' : 'critical',
    about: [sensor, number, type, offset].join('.'),
    text: `${name}: ${what}${at === undefined ? '' : ` (${new Date(at).toISOString()})`}`,
    at,
  };
}

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`;
