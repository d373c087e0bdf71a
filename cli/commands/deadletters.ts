import { parseArgs } from 'node:util';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createHttpSink } from '../../shared/server/http-sink.ts';
import { createDeadLetters, type StoredDeadLetter } from '../../shared/state/dead-letters.ts';
import { type Command, type Io, storeUrl, UsageError } from '../command.ts';
import { type ConnectionOptions, connectTo } from '../connection.ts';
import { printable } from '../output/table.ts';

export const deadlettersCommand: Command = {
  summary: 'list dead letters, or send them again',
  usage: `list|replay [ID… | --all] [--json] [--store URL] [--sink URL | --server URL]
      --all              replay all of them
      --json             list them as they are kept, a line each
      --store URL        default: $BAMEL_STORE
      --sink URL         replay to this broker; default: $K_SINK
      --server URL       replay through the host, when the store is embedded; default: $BAMEL_URL, then port 8080 here
      --token-file FILE  the host's token; default: $BAMEL_TOKEN_FILE`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        all: { type: 'boolean' },
        json: { type: 'boolean' },
        store: { type: 'string' },
        sink: { type: 'string' },
        server: { type: 'string' },
        'token-file': { type: 'string' },
      },
    });
    const [verb, ...ids] = positionals;
    const store = storeUrl(values.store, io);
    if (verb === 'list' && ids.length === 0) return list(store, values.json ?? false, io);
    if (verb !== 'replay') throw new UsageError('list or replay?');
    if (values.all ? ids.length > 0 : ids.length === 0)
      throw new UsageError('which ones? Their ids, as bamel deadletters list shows them, or --all');
    const wanted = values.all ? 'all' : ids;
    const sink = values.sink ?? io.env.K_SINK;
    const replayed = store.startsWith('embedded:')
      ? await askHost(values, wanted, io)
      : await sendAgain(store, sink, wanted);
    for (const id of replayed) io.stdout.write(`${id} sent again\n`);
    if (replayed.length === 0) io.stdout.write('there are none\n');
    return 0;
  },
};

type Wanted = 'all' | readonly string[];

async function list(url: string, asJson: boolean, { stdout }: Io): Promise<number> {
  const store = await openStore(url, { readOnly: true });
  try {
    const letters = await createDeadLetters(store).list();
    if (asJson) for (const letter of letters) stdout.write(`${JSON.stringify(letter)}\n`);
    else stdout.write(letters.length === 0 ? 'there are none\n' : letters.map(lineOf).join(''));
  } finally {
    await store.close();
  }
  return 0;
}

const lineOf = ({ id, at, event, function: to, lastError }: StoredDeadLetter): string =>
  `${id}  ${new Date(at).toISOString()}  ${event.type}  ${event.subject || '–'}  to ${to}: ${printable(lastError)}\n`;

/** Each is removed once the sink has accepted it: an interruption repeats at most one. */
async function sendAgain(url: string, sinkUrl: string | undefined, wanted: Wanted): Promise<string[]> {
  if (!sinkUrl) throw new UsageError('to which broker? Set K_SINK or give --sink');
  const store = await openStore(url);
  const sink = createHttpSink({ url: sinkUrl, source: '/bamel/deadletters', clock: realClock });
  try {
    const letters = createDeadLetters(store);
    const kept = await letters.list();
    const missing = wanted === 'all' ? [] : wanted.filter((id) => !kept.some((one) => one.id === id));
    if (missing.length > 0) throw new Error(`there is no dead letter ${missing.join(', ')}`);
    const chosen = kept.filter(({ id }) => wanted === 'all' || wanted.includes(id));
    for (const { id, event } of chosen) {
      await sink.emit(event);
      await letters.remove(id);
    }
    return chosen.map(({ id }) => id);
  } finally {
    await sink.close();
    await store.close();
  }
}

/** An embedded store belongs to its host, which sends them again itself. */
async function askHost(options: ConnectionOptions, replay: Wanted, io: Io): Promise<string[]> {
  const host = await connectTo(options, io);
  const { body } = await host.post('/dead-letters', { replay });
  if (Array.isArray(body.replayed)) return body.replayed.map(String);
  throw new Error(String(body.error));
}
