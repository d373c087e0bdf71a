import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { backup } from '../../shared/state/backup.ts';
import { type Command, progressOn, storeUrl } from '../command.ts';

export const backupCommand: Command = {
  summary: 'write everything in the store to a file, also while bamel runs',
  usage: `[-o FILE] [--store URL]
  -o, --output FILE  where to (default: standard output)
      --store URL    default: $BAMEL_STORE`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { output: { type: 'string', short: 'o' }, store: { type: 'string' } },
    });
    const store = await openStore(storeUrl(values.store, io), { readOnly: true });
    try {
      const lines = Readable.from(backup(store, new Date(), progressOn(io, 'keys written:')));
      if (values.output === undefined) await pipeline(lines, io.stdout, { end: false });
      else await writeWhole(values.output, lines);
    } finally {
      await store.close();
    }
    return 0;
  },
};

/** Under another name until it is complete: half a backup must not stand where a good one did. */
async function writeWhole(file: string, lines: Readable): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    // The backup may be confidential (addresses, names), so only its owner can read it.
    await pipeline(lines, createWriteStream(unfinished, { mode: 0o600, flush: true }));
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}
