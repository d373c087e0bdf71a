import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateRequest, csrProblem } from '../../shared/crypto/csr.ts';
import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { fc } from '../../tools/support/seeded.ts';
import { newFolder } from '../support/cleanup.ts';

const { privateKey, publicKey } = newSigningKey();
const wanted = { commonName: 'south', organization: 'liqo.io', publicKey };
const request = (key = privateKey, subject = {}) =>
  certificateRequest(createPrivateKey(key), { commonName: 'south', organization: 'liqo.io', ...subject });

test('what Liqo asks for is taken', () => {
  expect(csrProblem(request(), wanted)).toBeUndefined();
});

const other = newSigningKey();
const refused: [what: string, pem: string, why: RegExp][] = [
  ['another name', request(privateKey, { commonName: 'north' }), /O=liqo.io, CN=south and nothing else/],
  ['another group', request(privateKey, { organization: 'system:masters' }), /and nothing else/],
  ['another key', request(other.privateKey), /another key/],
  ['no PEM', 'south', /no certificate request in PEM/],
  ['two of them', request() + request(), /no certificate request in PEM/],
  ['half of it', request().replace(/\n.{64}\n/, '\n'), /damaged|nothing else/],
];
test.each(refused)('%s is refused', (_, pem, why) => {
  expect(csrProblem(pem, wanted)).toMatch(why);
});

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64');
const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

/** A request with one byte of its DER replaced. */
const damaged = (at: number, flip: number): string => {
  const bytes = derOf(request());
  const index = at % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ flip;
  return pemOf(bytes);
};

test('only the DER of a request and nothing more is accepted', () => {
  const der = derOf(request());
  const rest = der.subarray(3);
  expect(csrProblem(pemOf(der), wanted)).toBeUndefined();
  expect(csrProblem(pemOf(Buffer.concat([der, Buffer.from([5, 0])])), wanted)).toBe('it is damaged');
  const longer = Buffer.concat([Buffer.from([0x30, 0x81, rest.length + 2]), rest, Buffer.from([5, 0])]);
  expect(csrProblem(pemOf(longer), wanted)).toBe('it is damaged');
  const ber = Buffer.concat([Buffer.from([0x30, 0x82, 0, rest.length]), rest]);
  expect(csrProblem(pemOf(ber), wanted)).toBe('it is damaged');
});

test('whatever bit of it is turned, it is refused and nothing else happens', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      expect(csrProblem(damaged(at, flip), wanted)).toEqual(expect.any(String));
    }),
    { numRuns: 300 },
  );
});

describeWith(['openssl'], 'as openssl makes it', () => {
  const folder = newFolder();
  const key = join(folder, 'key.pem');
  writeFileSync(key, privateKey, { mode: 0o600 });
  const made = (...args: string[]): string => {
    const out = join(folder, 'out.csr');
    execFileSync('openssl', ['req', '-new', '-key', key, '-out', out, ...args], { stdio: 'pipe' });
    return readFileSync(out, 'utf8');
  };

  test.each([
    ['/O=liqo.io/CN=south', undefined],
    ['/CN=south/O=liqo.io', undefined],
    ['/O=liqo.io/CN=south/CN=admin', /nothing else/],
    ['/O=liqo.io/O=system:masters/CN=south', /nothing else/],
    ['/O=liqo.io/OU=x/CN=south', /nothing else/],
    ['/CN=south', /nothing else/],
  ])('%s', (subject, why) => {
    const problem = csrProblem(made('-subj', subject), wanted);
    if (why) expect(problem).toMatch(why);
    else expect(problem).toBeUndefined();
  });
});
