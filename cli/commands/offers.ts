import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { didYouMean } from '../../shared/schema/did-you-mean.ts';
import { type Command, type Io, UsageError } from '../command.ts';
import { outputUsage } from '../output/format.ts';
import { sourceUsage } from '../source.ts';
import { describeCommand } from './describe.ts';
import { getCommand } from './get.ts';

type Verb = (args: readonly string[], io: Io) => Promise<number>;

const verbs: Readonly<Record<string, Verb>> = {
  list: (args, io) => getCommand.run(['offers', ...args], io),
  describe: (args, io) => describeCommand.run(['offer', ...args], io),
  audit: (args, io) => getCommand.run(['peering', ...args], io),
  keygen,
};

export const offersCommand: Command = {
  summary: 'offers of provider clusters, peering requests, and a key to sign our own offers',
  usage: `list [ID…] | describe ID | audit | keygen --out FILE
  list                   offers with price, expiry, and whether they are usable
  describe ID            all about one; ID is that of its provider, a dot and its name
  audit                  every peering that was asked for and what came of it, and offers that were refused
  keygen --out FILE      make a key that signs our offers, and print the public one for others to trust${outputUsage}${sourceUsage}`,
  async run([verb, ...args], io) {
    const run = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
    if (run) return run(args, io);
    const names = Object.keys(verbs);
    throw new UsageError(
      verb === undefined
        ? `what of offers? ${names.join(', ')}`
        : `there is no offers ${verb}.${didYouMean(verb, names)} There are ${names.join(', ')}`,
    );
  },
};

async function keygen(args: readonly string[], { stdout, stderr }: Io): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { out: { type: 'string' } } });
  const { out } = values;
  if (!out) throw new UsageError('where to? Give --out FILE');
  const { privateKey, publicKey } = newSigningKey();
  // Never overwrites a key: its signatures would become invalid.
  await writeFile(out, privateKey, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(`${out} is there already: name another file`) : error;
  });
  stdout.write(`${publicKey}\n`);
  stderr.write(
    `The private key is in ${out}. Put it where remote.signingKey points, as privateKey:\n` +
      `kubectl create secret generic offer-key --from-file=privateKey=${out}\n` +
      'The line above is the public one: others put it into remote.trust.\n',
  );
  return 0;
}
