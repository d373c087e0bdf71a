import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { CertificateAuthority } from './certificates.ts';
import type { Workspace } from './process.ts';

const masters = 'system:masters';
/** User → groups, for those who come with a token. */
const tokenUsers: Readonly<Record<string, string>> = {
  admin: masters,
  kwok: masters,
  'system:kube-controller-manager': '',
  'system:kube-scheduler': '',
};

type User = Parameters<KubeConfig['loadFromClusterAndUser']>[1];

/** Who may talk to the API server on `port`, and as what. */
export function accessFor(port: number, authority: CertificateAuthority, { folder }: Workspace) {
  const tokenFile = join(folder, 'tokens.csv');
  const rows = Object.entries(tokenUsers).map(
    ([user, groups]) => `token-${user},${user},${user},"${groups}"`,
  );
  writeFileSync(tokenFile, rows.join('\n'));

  const asUser = (user: User): KubeConfig => {
    const config = new KubeConfig();
    const caData = readFileSync(authority.cert).toString('base64');
    config.loadFromClusterAndUser(
      { name: 'test', server: `https://127.0.0.1:${port}`, caData, skipTLSVerify: false },
      user,
    );
    return config;
  };
  const withToken = (name: string) => asUser({ name, token: `token-${name}` });
  return {
    tokenFile,
    asUser,
    withToken,
    withCertificate(name: string, groups: readonly string[] = []) {
      const { cert, key } = authority.issueClient(name, groups);
      return asUser({ name, certFile: cert, keyFile: key });
    },
    fileFor(name: string) {
      const file = join(folder, `${name.replaceAll(':', '-')}.kubeconfig`);
      writeFileSync(file, withToken(name).exportConfig());
      return file;
    },
  };
}

export function writeServiceAccountKeys({ folder }: Workspace): { public: string; private: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const paths = { public: join(folder, 'service-account.pub'), private: join(folder, 'service-account.key') };
  writeFileSync(paths.public, publicKey);
  writeFileSync(paths.private, privateKey);
  return paths;
}
