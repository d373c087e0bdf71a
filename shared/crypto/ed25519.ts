import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** What stands before the 32 bytes of a raw key in its DER form. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The base64 of the raw key, as Liqo and settings have it. */
export const rawPublicKey = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(derPrefix.length).toString('base64');

/** The DER form of a raw key. */
export const publicKeyDer = (raw: string): Buffer => Buffer.concat([derPrefix, Buffer.from(raw, 'base64')]);

const publicKeyOf = (raw: string): KeyObject =>
  createPublicKey({ key: publicKeyDer(raw), format: 'der', type: 'spki' });

/** Throws where the text is no Ed25519 key; never with the text. */
export function signerOf(pem: string): { readonly publicKey: string; sign(text: string): Buffer } {
  const key = privateKeyOf(pem);
  if (!key) throw new Error('privateKey is no Ed25519 key in PEM: make one with bamel offers keygen');
  return {
    publicKey: rawPublicKey(createPublicKey(key)),
    sign: (text) => sign(null, Buffer.from(text), key),
  };
}

/** Undefined: it is no Ed25519 key in PEM. */
export function privateKeyOf(pem: string | Buffer): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    // Its error might repeat a part of the key: that it is none has to do.
    return undefined;
  }
}

/** Also false for what is no key, or no signature. */
export function isSignedBy(raw: string, text: string | Buffer, signature: Buffer): boolean {
  try {
    return verify(null, Buffer.from(text), publicKeyOf(raw), signature);
  } catch {
    // Bytes that are no point of the curve are no key.
    return false;
  }
}

/** A new key pair: the private one as PEM. */
export function newSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    publicKey: rawPublicKey(publicKey),
  };
}
