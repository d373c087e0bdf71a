import type { OfferTerms } from '../../shared/core/remote/remote-settings.ts';
import { newSigningKey, signerOf } from '../../shared/crypto/ed25519.ts';
import { toOffer } from '../../shared/schema/offer.ts';
import { type Publication, sealOffer, verifyOffer } from '../../shared/state/sealed-offer.ts';
import { fc } from '../../tools/support/seeded.ts';

const now = Date.UTC(2026, 10, 16);
const minute = 60_000;
const { privateKey, publicKey } = newSigningKey();
const stranger = newSigningKey();
const trust = [{ clusterID: 'north', publicKey, maxPrice: 0.1 }];

const terms: OfferTerms = {
  name: 'spare',
  class: 'default',
  region: 'eu-1',
  resources: { cpu: 8, memory: '32Gi', gpu: 1, pods: 50 },
  price: { slice: 0.01, cpu: 0.02, memoryGiB: 0.005 },
  labels: { 'example.com/disk': 'fast' },
  taints: [{ key: 'example.com/lent', effect: 'NoSchedule' }],
};
const about: Publication = {
  clusterID: 'north',
  endpoint: 'https://north.example:8443/discovery',
  validFrom: now,
  validUntil: now + 3 * minute,
  serial: 7,
};
const seal = (more: Partial<OfferTerms> = {}, when: Partial<Publication> = {}, key = privateKey) =>
  sealOffer({ ...terms, ...more }, { ...about, ...when }, key);
const judged = (given: unknown, at = now) => verifyOffer(given, { trust, now: at });

/** Signed by somebody who is trusted, whatever it says. */
const signedText = (text: string) => {
  const payload = Buffer.from(text).toString('base64url');
  const signature = signerOf(privateKey).sign(`bamel.dev/offer.v1\n${payload}`).toString('base64url');
  return { payload, publicKey, signature };
};
const published = JSON.parse(Buffer.from(seal().payload, 'base64url').toString());
const signed = (more: object) => signedText(JSON.stringify({ ...published, ...more }));

test('an offer that is sealed is opened again, as decisions want it', () => {
  const taken = judged(seal());
  if (!('sealed' in taken)) throw new Error(taken.why);
  expect(toOffer(taken.published)).toEqual({
    id: 'north.spare',
    provider: 'north',
    class: 'default',
    region: 'eu-1',
    resources: { cpu: 8_000, memory: 32 * 2 ** 30, 'nvidia.com/gpu': 1, pods: 50 },
    price: { slice: 0.01, cpu: 0.02, memoryGiB: 0.005 },
    labels: { 'example.com/disk': 'fast' },
    taints: [{ key: 'example.com/lent', effect: 'NoSchedule' }],
    validUntil: now + 3 * minute,
    endpoint: 'https://north.example:8443/discovery',
  });
});

const sealed = seal();
const cheaper = Buffer.from(JSON.stringify({ ...published, price: {} })).toString('base64url');
const forgeries: [what: string, given: unknown, reason: string, why: RegExp][] = [
  ['the payload changed', { ...sealed, payload: cheaper }, 'forged', /changed in transit/],
  ['another signature', { ...sealed, signature: seal({}, { serial: 8 }).signature }, 'forged', /changed/],
  [
    'signed by somebody unknown',
    seal({}, {}, stranger.privateKey),
    'untrusted',
    /remote.trust does not contain/,
  ],
  [
    'the key of another',
    { ...sealed, publicKey: stranger.publicKey },
    'untrusted',
    /remote.trust does not contain/,
  ],
  [
    'signed for something else with the right key',
    { ...sealed, signature: signerOf(privateKey).sign(sealed.payload).toString('base64url') },
    'forged',
    /changed in transit/,
  ],
  [
    'an offer for another cluster',
    seal({}, { clusterID: 'south' }),
    'wrong-cluster',
    /may not offer for south/,
  ],
  ['not yet valid', seal({}, { validFrom: now + 2 * minute }), 'not-yet-valid', /compare the clocks/],
  ['valid for ever', seal({}, { validUntil: now + 86_400_001 }), 'malformed', /a day at most/],
  ['over before it begins', seal({}, { validUntil: now - 1, validFrom: now }), 'malformed', /for some time/],
  ['too expensive', seal({ price: { cpu: 0.2 } }), 'too-expensive', /costs 0.2, more than 0.1/],
  ['nothing for the money', signed({ resources: { cpu: 0, memory: 0 } }), 'malformed', /cpu: must be more/],
  ['an unknown field', signed({ kubeconfig: 'x' }), 'malformed', /kubeconfig: unknown field/],
  ['a field too few', signed({ endpoint: undefined }), 'malformed', /endpoint/],
  ['another version', signed({ schemaVersion: 'v2' }), 'malformed', /schemaVersion/],
  ['a negative price', signed({ price: { cpu: -1 } }), 'malformed', /price\.cpu/],
  ['a password in the address', signed({ endpoint: 'https://u:p@north.example' }), 'malformed', /endpoint/],
  ['an address without TLS', signed({ endpoint: 'http://north.example' }), 'malformed', /endpoint/],
  [
    'a label that is ours',
    signed({ labels: { 'node-role.kubernetes.io/master': '' } }),
    'malformed',
    /labels/,
  ],
  ['a path for a name', signed({ name: '../nodes/m-1' }), 'malformed', /name/],
  ['no JSON', signedText('power on'), 'malformed', /expected object/],
  ['a field beside the seal', { ...sealed, token: 'x' }, 'malformed', /token: unknown field/],
  ['far too much', { ...sealed, payload: 'x'.repeat(16_385) }, 'malformed', /payload/],
  ['no offer at all', 'offer', 'malformed', /expected object/],
];

test.each(forgeries)('%s is refused, and why', (_, given, reason, why) => {
  expect(judged(given)).toMatchObject({ reason, why: expect.stringMatching(why) });
});

test('an offer ends', () => {
  expect(judged(sealed, now + 3 * minute - 1)).toMatchObject({ sealed });
  expect(judged(sealed, now + 3 * minute)).toMatchObject({ reason: 'expired' });
});

test('whatever bit of it is turned, it is not taken', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('payload', 'signature' as const),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (part, at, flip) => {
        const bytes = Buffer.from(sealed[part as 'payload'], 'base64url');
        const index = at % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ flip;
        expect(judged({ ...sealed, [part]: bytes.toString('base64url') })).toMatchObject({
          reason: 'forged',
        });
      },
    ),
  );
});

test.each([
  ['no key', 'secret words'],
  ['a key of another kind', '-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n'],
])('%s does not sign, and is not shown', (_, key) => {
  expect(() => seal({}, {}, key)).toThrow(
    /^privateKey is no Ed25519 key in PEM: make one with bamel offers keygen$/,
  );
});
