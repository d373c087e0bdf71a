/** The machine behind the fake BMC. */
export interface Chassis {
  on: boolean;
  /** Bytes of the chassis status besides the power bit. */
  powerFaults: number;
  otherFaults: number;
  /** Undefined: it has no DCMI. */
  watts: number | undefined;
  readonly guid: Buffer;
  /** Refuses what is so already, as some do. */
  strict: boolean;
  /** Takes boot flags and forgets them. */
  forgetsBoot: boolean;
  bootFlags: readonly number[];
  /** Chassis controls that were carried out: 0 off, 1 on, 5 soft. */
  readonly controls: number[];
  /** Its log: records by number, and when it was last erased. Undefined: it keeps none. */
  sel: { erasedAt: number; readonly records: Map<number, Buffer> } | undefined;
}

export const newChassis = (): Chassis => ({
  on: false,
  powerFaults: 0,
  otherFaults: 0,
  watts: undefined,
  guid: Buffer.from('33221100554477668899aabbccddeeff', 'hex'),
  strict: false,
  forgetsBoot: false,
  bootFlags: [0, 0, 0, 0, 0],
  controls: [],
  sel: undefined,
});

interface Bmc {
  readonly chassis: Chassis;
  readonly version15: boolean;
  readonly kg: boolean;
}

const invalid = [0xc1];

/** Completion code and data. */
export function answerCommand(
  name: string,
  data: Buffer,
  { chassis, version15, kg }: Bmc,
): readonly number[] {
  const [first = 0] = data;
  switch (name) {
    case '06.38':
      return [0, 1, version15 ? 0x17 : 0x97, kg ? 0x24 : 0x04, version15 ? 0x01 : 0x03, 0, 0, 0, 0];
    case '06.3b':
      return [0, first];
    case '06.3c':
      return [0];
    case '06.01':
      return [0, 0x20, 1, 1, 0, 0x02, 0, 0x57, 0x01, 0, 0x34, 0x12];
    case '06.37':
      return [0, ...chassis.guid];
    case '00.01':
      return [0, chassis.powerFaults | Number(chassis.on), 0, chassis.otherFaults];
    case '00.02':
      return control(chassis, first);
    case '00.08':
      if (first === 5 && !chassis.forgetsBoot) chassis.bootFlags = [...data.subarray(1)];
      return [0];
    case '00.09':
      return [0, 1, first, ...chassis.bootFlags];
    case '0a.40':
      return chassis.sel ? selInfo(chassis.sel) : invalid;
    case '0a.43':
      return chassis.sel ? selEntry(chassis.sel, data.readUInt16LE(2)) : invalid;
    case '2c.02':
      return chassis.watts === undefined ? invalid : dcmi(chassis.watts);
    default:
      return invalid;
  }
}

function control(chassis: Chassis, verb: number): readonly number[] {
  const on = verb === 1;
  if (chassis.strict && chassis.on === on) return [0xd5];
  chassis.controls.push(verb);
  chassis.on = on;
  return [0];
}

function dcmi(watts: number): readonly number[] {
  const reading = [watts & 0xff, watts >> 8];
  return [0, 0xdc, ...reading, ...reading, ...reading, ...reading, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0x40];
}

type Sel = NonNullable<Chassis['sel']>;

function selInfo({ erasedAt, records }: Sel): readonly number[] {
  const info = Buffer.alloc(14);
  info.writeUInt8(0x51, 0);
  info.writeUInt16LE(records.size, 1);
  info.writeUInt32LE(erasedAt, 9);
  return [0, ...info];
}

function selEntry({ records }: Sel, asked: number): readonly number[] {
  const ids = [...records.keys()].sort((one, other) => one - other);
  const id = asked === 0xffff ? (ids.at(-1) ?? 0) : asked === 0 ? (ids[0] ?? 0) : asked;
  const record = records.get(id);
  // Requested record not present.
  if (!record) return [0xcb];
  const next = ids.find((one) => one > id) ?? 0xffff;
  return [0, next & 0xff, next >> 8, ...record];
}
