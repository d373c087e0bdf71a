import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { newSigningKey, signerOf } from '../../shared/crypto/ed25519.ts';
import { saveLatencies, writeOffer } from '../../shared/state/offers.ts';
import { writeAudit } from '../../shared/state/peering-audit.ts';
import { sealOffer, verifyOffer } from '../../shared/state/sealed-offer.ts';
import { newFolder } from '../support/cleanup.ts';

const minute = 60_000;
const folder = newFolder();
let store: string;
const keys = newSigningKey();

/** As it was published so long ago, valid for an hour. */
const offerOf = (name: string, cpu: number, agoMs: number) => {
  const validFrom = Date.now() - agoMs;
  const endpoint = 'https://north.example:8443/discovery';
  const about = { clusterID: 'north', endpoint, validFrom, validUntil: validFrom + 60 * minute, serial: 1 };
  const terms = {
    name,
    class: 'default',
    region: 'eu-1',
    resources: { cpu: 8, memory: '32Gi' },
    price: { cpu },
  };
  const taken = verifyOffer(sealOffer(terms, about, keys.privateKey), {
    trust: [{ clusterID: 'north', publicKey: keys.publicKey }],
    now: validFrom,
  });
  if ('reason' in taken) throw new Error(taken.why);
  return taken;
};

beforeAll(async () => {
  store = `embedded:${join(folder, 'store.db')}`;
  const open = await openStore(store);
  const now = Date.now();
  await writeOffer(open, offerOf('spare', 0.02, 0), { from: 'https://north.example/discovery', now });
  await writeOffer(open, offerOf('over', 0.01, 90 * minute), { from: 'published', now });
  await saveLatencies(open, new Map([['https://north.example:8443/discovery', 12]]));
  const refused = {
    what: 'exchange',
    who: 'south',
    from: '192.0.2.7',
    result: 'replayed',
    why: 'used already',
  } as const;
  await writeAudit(open, { at: now, ...refused });
  await writeAudit(open, { at: now, ...refused });
  await open.close();
});

async function offers(...args: string[]) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk;
        done();
      },
    });
  const io = { stdout: stream('stdout'), stderr: stream('stderr'), env: {} };
  return { code: await runCli(['offers', ...args], io), ...written };
}

test('offers with price, expiry, and whether they are usable', async () => {
  const { code, stdout } = await offers('list', '--store', store);
  expect(code).toBe(0);
  const [head, over, spare] = stdout.split('\n');
  expect(head).toMatch(/^OFFER +CLASS +REGION +SIZE +PER CORE-HOUR +VALID FOR +LATENCY +USABLE$/);
  expect(over).toMatch(/^north\.over .* 0\.01 +– +12 ms +no: it has ended/);
  expect(spare).toMatch(/^north\.spare +default +eu-1 +8 cpu, 32Gi memory +0\.02 +(59|60)m +12 ms +yes$/);
  expect((await offers('list', '-o', 'wide', '--store', store)).stdout).toMatch(/PROVIDER.*ENDPOINT.*FROM/);
});

test.each(['json', 'yaml'])('as %s, for other programs', async (format) => {
  const { stdout } = await offers('list', 'north.spare', '-o', format, '--store', store);
  expect(stdout).toMatch(/"?corePrice"?: 0\.02/);
  expect(stdout).toMatch(/"?usable"?: true/);
});

test('all about one', async () => {
  const { stdout } = await offers('describe', 'north.spare', '--store', store);
  expect(stdout).toMatch(/^Usable: +yes$/m);
  expect(stdout).toMatch(/^An hour: +0\.02 a core$/m);
  expect(stdout).toContain(keys.publicKey);
  expect(await offers('describe', 'north.nothing', '--store', store)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no offer north.nothing'),
  });
});

test('who asked for what, and what came of it', async () => {
  const { stdout } = await offers('audit', '--store', store);
  expect(stdout).toMatch(/exchange +south +192\.0\.2\.7 +replayed +2 +used already/);
});

test('a key for offers: in a file that only its owner reads, and never over another', async () => {
  const out = join(folder, 'offer-key');
  const { code, stdout, stderr } = await offers('keygen', '--out', out);
  expect(code).toBe(0);
  const privateKey = await readFile(out, 'utf8');
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  expect(signerOf(privateKey).publicKey).toBe(stdout.trim());
  expect(stderr).toContain('kubectl create secret generic offer-key --from-file=privateKey=');
  expect(stdout + stderr).not.toContain(privateKey.split('\n')[1]);
  expect(await offers('keygen', '--out', out)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already'),
  });
  expect(await readFile(out, 'utf8')).toBe(privateKey);
});

test.each([
  [[], /what of offers\? list, describe, audit, keygen/],
  [['lst'], /Did you mean list\?/],
  [['keygen'], /Give --out FILE/],
])('offers %j says how it is used', async (args, why) => {
  expect(await offers(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(why) });
});
