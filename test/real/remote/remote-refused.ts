import { X509Certificate } from 'node:crypto';
import { kubeObjects } from '../../../shared/adapters/kubernetes/objects.ts';
import { kubeTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { rawPublicKey } from '../../../shared/crypto/ed25519.ts';
import type { LiqoCluster } from '../../../tools/real-stack/liqo/liqo-cluster.ts';
import { borrower, startSite } from '../../discovery/harness.ts';

interface Signed {
  readonly tenantNamespace: string;
  readonly authParams: { readonly apiServer: string; readonly signedCRT: string };
}

/** What is unknown, forged or sent again is refused by us, before Liqo sees it; who signs is let in, by Liqo itself. */
export async function playRefused({ north }: { readonly north: LiqoCluster }): Promise<void> {
  const visitor = borrower('visitor');
  const thief = borrower('visitor');
  const kube = kubeTransport(north.plane.kubeConfig);
  const real = kubeObjects(kube);
  await using site = await startSite({ remote: { peers: [visitor.peer] }, real });
  const { signal } = new AbortController();
  const namespace = '/api/v1/namespaces/liqo-tenant-visitor';
  const tenant = '/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-visitor/tenants/visitor';
  const send = (path: string, body: object) => site.ask('POST', `/discovery/peering${path}`, body);
  const nonceFor = async (): Promise<string> => {
    const { status, body } = await send('/nonce', { clusterID: 'visitor' });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.nonce as unknown as string;
  };
  try {
    expect(await send('/nonce', { clusterID: 'stranger' })).toMatchObject({
      status: 403,
      body: { reason: 'unknown-peer' },
    });
    const nonce = await nonceFor();
    const forged = { ...visitor.exchange(nonce), signature: thief.exchange(nonce).signature };
    expect(await send('', forged)).toMatchObject({ status: 403, body: { reason: 'bad-signature' } });
    expect(await real.get(tenant, signal)).toBeUndefined();

    const given = visitor.exchange(nonce);
    const { status, body } = await send('', given);
    expect({ status, body }).toMatchObject({ status: 200, body: { tenantNamespace: 'liqo-tenant-visitor' } });
    const { authParams } = body as unknown as Signed;
    const certificate = new X509Certificate(Buffer.from(authParams.signedCRT, 'base64'));
    expect(certificate.subject.split('\n').sort()).toEqual(['CN=visitor', 'O=liqo.io']);
    expect(rawPublicKey(certificate.publicKey)).toBe(visitor.publicKey);

    expect(await send('', given)).toMatchObject({ status: 409, body: { reason: 'replayed' } });
    const second = await nonceFor();
    expect(second).not.toBe(nonce);
    expect((await send('', visitor.exchange(second))).status).toBe(200);
  } finally {
    await real.remove(tenant, signal);
    await real.remove(namespace, signal);
    await kube.close();
  }
}
