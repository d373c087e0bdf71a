import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenFile, openFile } from './open-file.ts';

interface Link {
  readonly name: string;
  readonly bytesPerSecond: number;
  readonly files: readonly [OpenFile, OpenFile];
  counted: [number, number] | undefined;
}

export interface Network {
  /** Interfaces whose capacity is known. */
  readonly links: readonly string[];
  /** Why there is nothing to sense, or nothing. */
  readonly problem: string | undefined;
  /** Use of the fullest direction of the fullest interface since the last time, and bytes of all of them so far. */
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
    const speed = megabits ?? speedOf(join(root, name, 'speed'));
    if (speed === undefined) return [];
    const file = (counter: string) => openFile(join(root, name, 'statistics', counter));
    return [
      {
        name,
        bytesPerSecond: (speed * 1e6) / 8,
        files: [file('rx_bytes'), file('tx_bytes')],
        counted: undefined,
      },
    ];
  });
  return {
    links: links.map(({ name }) => name),
    problem:
      links.length > 0
        ? undefined
        : names.length === 0
          ? 'no interface with a device found: name those that count in BAMEL_SENSOR_INTERFACES'
          : `the speed of ${names.join(', ')} is not known: write it into BAMEL_SENSOR_MEGABITS`,
    sample(seconds) {
      let share = 0;
      let bytes = 0;
      for (const link of links) {
        const now = link.files.map((file) => Number(file.read() ?? 0)) as [number, number];
        bytes += now[0] + now[1];
        for (const [index, before] of (link.counted ?? now).entries())
          share = Math.max(share, ((now[index] ?? 0) - before) / seconds / link.bytesPerSecond);
        link.counted = now;
      }
      return { share: Math.min(1, share), bytes };
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

function speedOf(path: string): number | undefined {
  try {
    const speed = Number(readFileSync(path, 'utf8'));
    return speed > 0 ? speed : undefined;
  } catch {
    // Interfaces that are down, and many virtual ones, refuse to tell.
    return undefined;
  }
}
