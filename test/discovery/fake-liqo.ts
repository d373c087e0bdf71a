import { randomBytes } from 'node:crypto';
import { isSignedBy } from '../../shared/crypto/ed25519.ts';
import type { KubeObject, KubeObjects } from '../../shared/ports/kubernetes-objects.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface FakeLiqo {
  readonly objects: KubeObjects;
  readonly made: Map<string, KubeObject>;
  /** What it does no more until told otherwise. */
  readonly silent: { nonce: boolean; tenant: boolean };
  /** Thrown by whatever is asked next. */
  fail: Error | undefined;
  tenant(peer: string): KubeObject | undefined;
}

const tenantPath = (peer: string): string =>
  `/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-${peer}/tenants/${peer}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A provider's cluster, with as much of Liqo as an exchange needs: what it does, it does when it is looked at. */
export function fakeLiqo(): FakeLiqo {
  const made = new Map<string, KubeObject>();
  const silent = { nonce: false, tenant: false };
  let signed = 0;
  const liqo: FakeLiqo = {
    objects: undefined as never,
    made,
    silent,
    fail: undefined,
    tenant: (peer) => made.get(tenantPath(peer)),
  };

  const put = (path: string, object: KubeObject): KubeObject => {
    made.set(path, object);
    return object;
  };
  const fillNonce = (path: string, secret: KubeObject): void => {
    if (silent.nonce || secret.data || secret.metadata.labels?.['liqo.io/nonce'] !== 'true') return;
    put(path, { ...secret, data: { nonce: base64(randomBytes(64).toString('base64')) } });
  };
  /** As Liqo: a signature that is wrong changes nothing, and nobody is told. */
  const signTenant = (path: string, tenant: KubeObject): void => {
    const { clusterID, publicKey, signature } = (tenant.spec ?? {}) as Record<string, string>;
    const secret = made.get(`/api/v1/namespaces/liqo-tenant-${clusterID}/secrets/liqo-nonce`);
    const nonce = Buffer.from((secret?.data as { nonce?: string })?.nonce ?? '', 'base64');
    if (silent.tenant || tenant.signedFor === signature) return;
    if (!isSignedBy(publicKey ?? '', nonce, Buffer.from(signature ?? '', 'base64'))) return;
    signed += 1;
    put(path, {
      ...tenant,
      signedFor: signature,
      status: {
        tenantNamespace: `liqo-tenant-${clusterID}`,
        authParams: {
          apiServer: 'https://10.0.0.1:6443',
          ca: base64('ca'),
          signedCRT: base64(`certificate ${signed}`),
        },
      },
    });
  };
  const get = async (path: string): Promise<KubeObject | undefined> => {
    if (liqo.fail) throw liqo.fail;
    const found = made.get(path);
    if (found && path.endsWith('/liqo-nonce')) fillNonce(path, found);
    if (found && path.includes('/tenants/')) signTenant(path, found);
    return found;
  };
  const objects: KubeObjects = {
    get,
    list: async () => [],
    ensure: async (path, object) => (await get(path)) ?? put(path, object as KubeObject),
    async patch(path, { spec }) {
      const before = await get(path);
      if (!before) throw new Error(`${path} is not there`);
      return put(path, { ...before, spec: { ...before.spec, ...(spec as Fields) } });
    },
    remove: async (path) => made.delete(path),
  };
  return Object.assign(liqo, { objects });
}
