import { closeSync, openSync, readSync } from 'node:fs';

const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** A file of the kernel that is read again and again. Kept open: opening it costs more than twice as much as reading. */
export interface OpenFile {
  /** The current content; undefined if the file does not exist. */
  read(): string | undefined;
  close(): void;
}

export function openFile(path: string): OpenFile {
  let descriptor = open(path);
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    read() {
      descriptor ??= open(path);
      if (descriptor === undefined) return undefined;
      try {
        return scratch.toString('latin1', 0, readSync(descriptor, scratch, 0, scratch.length, 0));
      } catch {
        // Its cgroup, process or device is gone: the name may come back as another one.
        close();
        return undefined;
      }
    },
    close,
  };
}

function open(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}
