import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import { isSignedBy, publicKeyDer } from './ed25519.ts';

const oids = { commonName: '2.5.4.3', organization: '2.5.4.10', ed25519: '1.3.101.112' } as const;

interface Subject {
  readonly commonName: string;
  readonly organization: string;
}

interface Wanted extends Subject {
  /** Base64 of the raw Ed25519 key. */
  readonly publicKey: string;
}

const onePem =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/;

/** Why a certificate request (PEM) is not for exactly this subject and key; undefined when it is. */
export function csrProblem(pem: string, { commonName, organization, publicKey }: Wanted): string | undefined {
  const body = onePem.exec(pem)?.[1];
  if (!body) return 'it is no certificate request in PEM';
  const request = parse(Buffer.from(body, 'base64'));
  if (!request) return 'it is damaged';
  const { certificationRequestInfo: info, certificationRequestInfoRaw: signed, signature } = request;
  const [first, second, ...more] = info.subject.flat().map(textOf).sort();
  const isWanted =
    first === `${oids.organization}=${organization}` && second === `${oids.commonName}=${commonName}`;
  if (!isWanted || more.length > 0)
    return `it must be for O=${organization}, CN=${commonName} and nothing else`;
  if (!publicKeyDer(publicKey).equals(derOf(info.subjectPKInfo))) return 'it is for another key';
  const { algorithm, parameters } = request.signatureAlgorithm;
  if (algorithm !== oids.ed25519 || parameters !== undefined) return 'it is not signed with Ed25519';
  if (!signed || !isSignedBy(publicKey, Buffer.from(signed), Buffer.from(signature)))
    return 'its signature is wrong';
  return undefined;
}

/** Undefined: it is no request in DER. The package also reads BER, and ignores what follows the parts it knows. */
function parse(der: Buffer): CertificationRequest | undefined {
  try {
    const request = AsnConvert.parse(der, CertificationRequest);
    return derOf(request).equals(der) ? request : undefined;
  } catch {
    // It throws errors of several classes.
    return undefined;
  }
}

const derOf = (value: unknown): Buffer => Buffer.from(AsnConvert.serialize(value));

function textOf({ type, value }: AttributeTypeAndValue): string {
  return `${type}=${value.utf8String ?? value.printableString ?? value.ia5String}`;
}

const named = (type: string, utf8String: string): RelativeDistinguishedName =>
  new RelativeDistinguishedName([
    new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String }) }),
  ]);

/** A request for a certificate (PKCS#10) of an Ed25519 key, as PEM. */
export function certificateRequest(key: KeyObject, { commonName, organization }: Subject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = new CertificationRequestInfo({
    subject: new Name([named(oids.organization, organization), named(oids.commonName, commonName)]),
    subjectPKInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
  });
  const request = new CertificationRequest({
    certificationRequestInfo: info,
    signatureAlgorithm: new AlgorithmIdentifier({ algorithm: oids.ed25519 }),
    signature: Uint8Array.from(sign(null, derOf(info), key)).buffer,
  });
  const lines =
    derOf(request)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}
