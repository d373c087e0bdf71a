import { open } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { restore } from '../../shared/state/backup.ts';
import { type Command, progressOn, storeUrl, UsageError } from '../command.ts';

export const restoreCommand: Command = {
  summary: 'fill the store from a file made by bamel backup',
  usage: `-f FILE [--replace] [--store URL]
  -f, --file FILE  the backup
      --replace    delete what is in the store and not in the file
      --store URL  default: $BAMEL_STORE`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        file: { type: 'string', short: 'f' },
        replace: { type: 'boolean' },
        store: { type: 'string' },
      },
    });
    if (!values.file) throw new UsageError('which file? Give -f FILE');
    const url = storeUrl(values.store, io);
    await using file = await open(values.file);
    const store = await openStore(url);
    try {
      const keys = await restore(store, file.readLines(), {
        replace: values.replace ?? false,
        progress: progressOn(io, 'keys restored:'),
      });
      io.stderr.write(`restored ${keys} keys\n`);
    } finally {
      await store.close();
    }
    return 0;
  },
};
