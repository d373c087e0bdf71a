import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenFile, openFile } from './open-file.ts';

interface Link {
  readonly name: string;
  readonly bytesPerSecond: number;
  readonly files: readonly [OpenFile, OpenFile];
  /** The last readings: what is in use is measured over all of them. */
  counted: Reading[];
}

interface Reading {
  readonly seconds: number;
  readonly bytes: readonly [received: number, sent: number];
}

/** Traffic comes in bursts: over less than three tenths of a second a full link may look half empty. */
const readings = 4;

export interface Network {
  /** Interfaces whose capacity is known. */
  readonly links: readonly string[];
  /** What the kernel calls them. */
  readonly indexes: readonly number[];
  /** Why there is nothing to sense, or nothing. */
  readonly problem: string | undefined;
  /** Use of the fullest direction of the fullest interface lately, and bytes of all of them so far. */
  sample(seconds: number): { readonly share: number; readonly bytes: number };
  close(): void;
}

export interface NetworkOptions {
  /** Those of the node that count; unless given, those with a device. */
  readonly interfaces?: readonly string[] | undefined;
  /** For interfaces that do not know their speed, as many virtual ones. */
  readonly megabits?: number | undefined;
}

/** The node's own interfaces, by their counters and their speed. */
export function senseNetwork(sys: string, { interfaces, megabits }: NetworkOptions): Network {
  const root = join(sys, 'class/net');
  const names = interfaces ?? ownInterfaces(root);
  const links = names.flatMap((name): Link[] => {
    const speed = megabits ?? numberIn(join(root, name, 'speed'));
    if (speed === undefined) return [];
    const file = (counter: string) => openFile(join(root, name, 'statistics', counter));
    return [
      {
        name,
        bytesPerSecond: (speed * 1e6) / 8,
        files: [file('rx_bytes'), file('tx_bytes')],
        counted: [],
      },
    ];
  });
  let now = 0;
  return {
    links: links.map(({ name }) => name),
    indexes: links.flatMap(({ name }) => numberIn(join(root, name, 'ifindex')) ?? []),
    problem:
      links.length > 0
        ? undefined
        : names.length === 0
          ? 'no interface with a device found: name those that count in BAMEL_SENSOR_INTERFACES'
          : `the speed of ${names.join(', ')} is not known: write it into BAMEL_SENSOR_MEGABITS`,
    sample(seconds) {
      let share = 0;
      let all = 0;
      now += seconds;
      for (const { files, counted, bytesPerSecond } of links) {
        const bytes = [Number(files[0].read() ?? 0), Number(files[1].read() ?? 0)] as const;
        all += bytes[0] + bytes[1];
        counted.push({ seconds: now, bytes });
        if (counted.length > readings) counted.shift();
        const [first] = counted;
        const capacity = (now - (first?.seconds ?? now)) * bytesPerSecond;
        if (!first || capacity === 0) continue;
        share = Math.max(
          share,
          (bytes[0] - first.bytes[0]) / capacity,
          (bytes[1] - first.bytes[1]) / capacity,
        );
      }
      return { share: Math.min(1, share), bytes: all };
    },
    close() {
      for (const { files } of links) for (const file of files) file.close();
    },
  };
}

/** What traffic of pods leaves the node by: devices and bonds of them, not the interfaces that are made for pods. */
function ownInterfaces(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root).filter((name) =>
    ['device', 'bonding'].some((mark) => existsSync(join(root, name, mark))),
  );
}

function numberIn(path: string): number | undefined {
  try {
    const number = Number(readFileSync(path, 'utf8'));
    return number > 0 ? number : undefined;
  } catch {
    // Interfaces that are down, and many virtual ones, refuse to tell.
    return undefined;
  }
}
