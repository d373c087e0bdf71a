import type { Power, PowerVerb } from '../../core/machine/machine.ts';
import type { Answer, Request } from './message.ts';
import type { Session } from './session.ts';
import { commandRefused } from './status.ts';
import type { Talk } from './talk.ts';

const chassis = 0x00;
const app = 0x06;
const storage = 0x0a;
const groupExtension = 0x2c;
const dcmi = 0xdc;

/** A command, what it is called in messages, and how long a good answer is at least. */
interface Command {
  readonly request: Request;
  readonly what: string;
  readonly bytes: number;
}

const command = (what: string, netFn: number, code: number, data: readonly number[], bytes = 0): Command => ({
  request: { netFn, command: code, data },
  what,
  bytes,
});

/** Set-state commands only: power cycle, reset and the button are none. */
const controls: Readonly<Record<PowerVerb, number>> = { 'hard-off': 0, on: 1, 'soft-off': 5 };

const bootFlags = 5;
const keepBootFlags = [3, 0x08];
const fromNetwork = 0x04;
const bootModes = { uefi: 0xa0, legacy: 0x80 } as const;
export type BootMode = keyof typeof bootModes;

/** Bits that the chassis reports, by byte of the answer. */
const faults: readonly { readonly byte: number; readonly bit: number; readonly problem: string }[] = [
  { byte: 0, bit: 0x02, problem: 'power overload' },
  { byte: 0, bit: 0x08, problem: 'main power fault' },
  { byte: 0, bit: 0x10, problem: 'power control fault' },
  { byte: 2, bit: 0x04, problem: 'drive fault' },
  { byte: 2, bit: 0x08, problem: 'cooling or fan fault' },
];

export interface ChassisStatus {
  readonly power: Power;
  readonly problems: readonly string[];
}

/** The commands that we use, in a session. */
export function createCommands(talk: Talk, session: Session) {
  const ask = ({ request, what }: Command): Promise<Answer> => session.request(request, what);

  const demand = async (wanted: Command): Promise<Buffer> => {
    const { completion, data } = await ask(wanted);
    if (completion !== 0) throw commandRefused(talk, completion, wanted.what);
    if (data.length < wanted.bytes)
      throw talk.fail('refused', `its BMC's answer to ${wanted.what} is too short`);
    return data;
  };

  /** Undefined where the BMC does not have it. */
  const request = async (wanted: Command): Promise<Buffer | undefined> => {
    const { completion, data } = await ask(wanted);
    return completion === 0 && data.length >= wanted.bytes ? data : undefined;
  };

  return {
    async chassisStatus(): Promise<ChassisStatus> {
      const data = await demand(command('chassis status', chassis, 0x01, [], 3));
      return {
        power: data.readUInt8(0) & 0x01 ? 'on' : 'off',
        problems: faults.filter(({ byte, bit }) => data.readUInt8(byte) & bit).map(({ problem }) => problem),
      };
    },

    async control(verb: PowerVerb): Promise<void> {
      await demand(command(`power ${verb}`, chassis, 0x02, [controls[verb]]));
    },

    async bootFromNetwork(mode: BootMode): Promise<void> {
      const flags = bootModes[mode];
      // Else some forget the flags after a minute. Not all know it, and it is not needed by most.
      await ask(command('boot flags kept', chassis, 0x08, keepBootFlags));
      await demand(command('boot from the network', chassis, 0x08, [bootFlags, flags, fromNetwork, 0, 0, 0]));
      const [, , kept = 0, device = 0] = await demand(
        command('boot flags', chassis, 0x09, [bootFlags, 0, 0], 4),
      );
      // Bit 6 would make it permanent. Some show the device and no flags at all.
      if ((kept !== 0 && (kept & 0xe0) !== flags) || (device & 0x3c) !== fromNetwork)
        throw talk.fail(
          'refused',
          `its BMC took "boot from the network once (${mode})" and did not keep it. Try the other ipmi.bootMode`,
        );
    },

    /** The GUID of the machine, not of the BMC's own firmware. */
    systemGuid: () => request(command('system GUID', app, 0x37, [], 16)),

    async watts(): Promise<number | undefined> {
      const data = await request(command('DCMI power reading', groupExtension, 0x02, [dcmi, 1, 0, 0], 18));
      // The last byte says whether anything is measured at all.
      return data?.[0] === dcmi && data.readUInt8(17) & 0x40 ? data.readUInt16LE(1) : undefined;
    },

    /** Undefined where it keeps no log. */
    async selInfo(): Promise<{ readonly entries: number; readonly erasedAt: number } | undefined> {
      const data = await request(command('SEL info', storage, 0x40, [], 14));
      return data && { entries: data.readUInt16LE(1), erasedAt: data.readUInt32LE(9) };
    },

    /** A whole record and the number of the next one; 0xffff is the last. Undefined where there is none. */
    async selEntry(id: number): Promise<{ readonly next: number; readonly record: Buffer } | undefined> {
      const asked = [0, 0, id & 0xff, id >> 8, 0, 0xff];
      const data = await request(command('SEL entry', storage, 0x43, asked, 18));
      return data && { next: data.readUInt16LE(0), record: data.subarray(2, 18) };
    },

    async deviceId(): Promise<{ readonly manufacturer: number; readonly product: number }> {
      const data = await demand(command('device ID', app, 0x01, [], 11));
      return { manufacturer: data.readUIntLE(6, 3), product: data.readUInt16LE(9) };
    },
  };
}
