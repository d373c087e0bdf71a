import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type CertificateFiles = { readonly cert: string; readonly key: string };

export type CertificateAuthority = {
  /** The CA certificate, PEM. */
  readonly cert: string;
  readonly key: string;
  /** A server certificate for 127.0.0.1 and localhost. */
  issueServer(name: string): CertificateFiles;
  /** A client certificate; a Kubernetes API server takes the user and the groups from its subject. */
  issueClient(user: string, groups?: readonly string[]): CertificateFiles;
};

/** A throw-away authority in `folder`; made by openssl, because Node can read X.509 but not write it. */
export function makeAuthority(folder: string): CertificateAuthority {
  const at = (file: string) => join(folder, file);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = { cert: at('ca.crt'), key: at('ca.key') };
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=bamel-test-ca', ...files(authority));

  let issued = 0;
  const issue = (subject: string, extensions: readonly string[]): CertificateFiles => {
    issued += 1;
    const made = { cert: at(`${issued}.crt`), key: at(`${issued}.key`) };
    const request = at(`${issued}.csr`);
    const config = at(`${issued}.ext`);
    writeFileSync(config, extensions.join('\n'));
    openssl('req', '-new', ...newKey, '-subj', subject, '-keyout', made.key, '-out', request);
    const signer = ['-CA', authority.cert, '-CAkey', authority.key, '-set_serial', String(issued + 1)];
    openssl('x509', '-req', '-in', request, ...signer, '-days', '2', '-extfile', config, '-out', made.cert);
    return made;
  };
  return {
    ...authority,
    issueServer: (name) =>
      issue(`/CN=${name}`, ['subjectAltName=IP:127.0.0.1,DNS:localhost', 'extendedKeyUsage=serverAuth']),
    issueClient: (user, groups = []) =>
      issue(`${groups.map((group) => `/O=${group}`).join('')}/CN=${user}`, ['extendedKeyUsage=clientAuth']),
  };
}

const files = ({ cert, key }: CertificateFiles) => ['-keyout', key, '-out', cert];

function openssl(...args: string[]): void {
  try {
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(
        'openssl is needed to make test certificates and was not found. Install it, e.g. apt-get install openssl.',
      );
    throw error;
  }
}
