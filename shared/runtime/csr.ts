import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { isSignedBy, publicKeyDer } from './ed25519.ts';

/** A part of a DER document: its tag, what is in it, and all of its bytes. */
interface Part {
  readonly tag: number;
  readonly inside: Buffer;
  readonly whole: Buffer;
}

const tags = {
  integer: 0x02,
  bits: 0x03,
  oid: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  attributes: 0xa0,
} as const;
const texts = [0x0c, 0x13, 0x16];
/** 2.5.4.3 and 2.5.4.10. */
const oids = { commonName: '550403', organization: '55040a' } as const;
const names = new Map(Object.entries(oids).map(([name, oid]) => [oid as string, name]));
/** The algorithm 1.3.101.112, Ed25519, which has no parameters. */
const ed25519 = '300506032b6570';

class NotDer extends Error {}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new NotDer();
  return value;
}

/** The parts that follow each other in a piece of DER. */
function partsOf(bytes: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = need(bytes[at]);
    const first = need(bytes[at + 1]);
    const more = first < 0x80 ? 0 : first - 0x80;
    // Nothing that we look at needs more than two bytes of length.
    if (more > 2 || first === 0x80 || at + 2 + more > bytes.length) throw new NotDer();
    const size = more === 0 ? first : bytes.readUIntBE(at + 2, more);
    const from = at + 2 + more;
    const to = from + size;
    if (to > bytes.length) throw new NotDer();
    parts.push({ tag, inside: bytes.subarray(from, to), whole: bytes.subarray(at, to) });
    at = to;
  }
  return parts;
}

function inside(part: Part | undefined, tag: number): Part[] {
  if (part?.tag !== tag) throw new NotDer();
  return partsOf(part.inside);
}

/** `organization=…` and `commonName=…`, in their order; what is neither is told by its number. */
function subjectOf(subject: Part | undefined): string[] {
  return inside(subject, tags.sequence).flatMap((set) =>
    inside(set, tags.set).map((pair) => {
      const [type, value] = inside(pair, tags.sequence);
      if (type?.tag !== tags.oid || !value || !texts.includes(value.tag)) throw new NotDer();
      const oid = type.inside.toString('hex');
      return `${names.get(oid) ?? oid}=${value.inside.toString('utf8')}`;
    }),
  );
}

interface Wanted {
  readonly commonName: string;
  readonly organization: string;
  /** Base64 of the raw Ed25519 key. */
  readonly publicKey: string;
}

/** Why a certificate request (PEM) is not for exactly this subject and key; undefined when it is. */
export function csrProblem(pem: string, { commonName, organization, publicKey }: Wanted): string | undefined {
  const body =
    /^\s*-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/.exec(
      pem,
    );
  if (!body?.[1]) return 'it is no certificate request in PEM';
  try {
    const [request, ...rest] = partsOf(Buffer.from(body[1], 'base64'));
    const [info, algorithm, signature, ...beyond] = inside(request, tags.sequence);
    if (rest.length + beyond.length > 0 || !info) throw new NotDer();
    const [, subject, key] = inside(info, tags.sequence);
    const said = subjectOf(subject).sort();
    const wanted = [`commonName=${commonName}`, `organization=${organization}`];
    if (said.length !== 2 || said.some((one, index) => one !== wanted[index]))
      return `it must be for O=${organization}, CN=${commonName} and nothing else`;
    if (!key?.whole.equals(publicKeyDer(publicKey))) return 'it is for another key';
    if (algorithm?.whole.toString('hex') !== ed25519) return 'it is not signed with Ed25519';
    const [unusedBits, ...signed] = signature?.inside ?? [];
    if (
      signature?.tag !== tags.bits ||
      unusedBits !== 0 ||
      !isSignedBy(publicKey, info.whole, Buffer.from(signed))
    )
      return 'its signature is wrong';
    return undefined;
  } catch (error) {
    if (error instanceof NotDer) return 'it is damaged';
    throw error;
  }
}

/** DER: a tag, how many bytes follow, and they. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const oid = (hex: string): Buffer => der(tags.oid, Buffer.from(hex, 'hex'));
const named = (type: string, value: string): Buffer =>
  der(tags.set, der(tags.sequence, oid(type), der(tags.text, Buffer.from(value))));
/** The first byte says that every bit of the last one counts. */
const bits = (body: Buffer): Buffer => der(tags.bits, Buffer.from([0]), body);

/** A request for a certificate (PKCS#10) of an Ed25519 key, as PEM. Node.js knows keys, but no requests. */
export function certificateRequest(
  key: KeyObject,
  { commonName, organization }: { readonly commonName: string; readonly organization: string },
): string {
  const request = der(
    tags.sequence,
    der(tags.integer, Buffer.from([0])),
    der(tags.sequence, named(oids.organization, organization), named(oids.commonName, commonName)),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(tags.attributes),
  );
  const signed = der(tags.sequence, request, Buffer.from(ed25519, 'hex'), bits(sign(null, request, key)));
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}
