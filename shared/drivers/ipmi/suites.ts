/** How a session is authenticated, signed and encrypted; numbers as the protocol has them. */
export interface CipherSuite {
  readonly id: 3 | 17;
  readonly authentication: number;
  readonly integrity: number;
  readonly confidentiality: number;
  readonly hash: 'sha1' | 'sha256';
  /** Signatures are cut to this many bytes. */
  readonly signatureBytes: number;
}

/** Only suites that authenticate and encrypt. Suite 0, which accepts everyone, is not supported. */
export const cipherSuites: Readonly<Record<CipherSuite['id'], CipherSuite>> = {
  17: { id: 17, authentication: 3, integrity: 4, confidentiality: 1, hash: 'sha256', signatureBytes: 16 },
  3: { id: 3, authentication: 1, integrity: 1, confidentiality: 1, hash: 'sha1', signatureBytes: 12 },
};
