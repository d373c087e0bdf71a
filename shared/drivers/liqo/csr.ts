import { createPublicKey, type KeyObject, sign } from 'node:crypto';

const tags = {
  integer: 0x02,
  bits: 0x03,
  oid: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  attributes: 0xa0,
};
const oids = { organization: '55040a', commonName: '550403', ed25519: '2b6570' };

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
  const algorithm = der(tags.sequence, oid(oids.ed25519));
  const signed = der(tags.sequence, request, algorithm, bits(sign(null, request, key)));
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}
