import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { z } from 'zod';
import type { MachineSpec } from '../../core/machine/machine.ts';
import { privateKeyOf, rawPublicKey } from '../../crypto/ed25519.ts';
import { httpAddress } from '../../http/address.ts';
import { parsed, retryAfterMs } from '../../http/answers.ts';
import type { HttpAnswer } from '../../http/exchange.ts';
import { type HttpPeer, httpRequest } from '../../http/peer.ts';
import type { KubeObjects } from '../../ports/kubernetes-objects.ts';
import type { DriverDeps } from '../../ports/power.ts';
import { type Fail, failureOf } from '../common/failure.ts';
import { isLoopback } from '../common/warning.ts';
import type { Options } from './options.ts';

const Nonce = z.object({ nonce: z.string().min(16).max(1_000) });
const base64 = z.base64().min(1);
/** Where the provider's API server is, and what lets us in together with our own key. */
const Admission = z.object({
  tenantNamespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  authParams: z.object({
    apiServer: z.url({ protocol: /^https$/ }),
    ca: base64.optional(),
    signedCRT: base64,
    proxyURL: z.string().optional(),
  }),
});
const Refusal = z.object({ error: z.string() });
const ClusterId = z.object({ data: z.object({ CLUSTER_ID: z.string().min(1) }) });
const Keys = z.object({ data: z.object({ privateKey: base64 }) });

/** Who is at it already, by the provider: machines that come together need one exchange. */
const underWay = new WeakMap<KubeObjects, Map<string, Promise<void>>>();

/**
 * Peers with a provider, unless that was done before: by us, or by hand. Stopped anywhere, it is begun again: the
 * Identity, made last, is all that counts. Our private key stays here; a signature and a request for a
 * certificate travel.
 */
export function peer(
  objects: KubeObjects,
  spec: MachineSpec,
  options: Options & { readonly clusterID: string },
  namespace: string,
  deps: Pick<DriverDeps, 'resolve'>,
  signal: AbortSignal,
): Promise<void> {
  const providers = underWay.get(objects) ?? new Map<string, Promise<void>>();
  underWay.set(objects, providers);
  const { clusterID } = options;
  const shared =
    providers.get(clusterID) ??
    exchange(objects, spec, options, namespace, deps, signal).finally(() => providers.delete(clusterID));
  providers.set(clusterID, shared);
  return shared;
}

async function exchange(
  objects: KubeObjects,
  spec: MachineSpec,
  { clusterID: provider, liqoNamespace, tls }: Options & { readonly clusterID: string },
  namespace: string,
  deps: Pick<DriverDeps, 'resolve'>,
  signal: AbortSignal,
): Promise<void> {
  const name = `controlplane-${provider}`;
  const identity = `/apis/authentication.liqo.io/v1beta1/namespaces/${namespace}/identities/${name}`;
  if (await objects.get(identity, signal)) return;

  const fail = failureOf(spec);
  const { key, clusterID } = await ownIdentity(objects, liqoNamespace, fail, signal);
  await ensureNamespace(objects, namespace, provider, fail, signal);
  const post = talkTo(
    {
      who: `its provider ${provider}`,
      address: secureAddress(spec, fail),
      tls,
      section: 'liqo',
      resolve: deps.resolve,
      fail,
    },
    signal,
  );
  const { nonce } = await post('peering/nonce', { clusterID }, Nonce);
  // Loaded at the first exchange: its ASN.1 packages would slow every start.
  const { certificateRequest } = await import('../../crypto/csr.ts');
  const csr = certificateRequest(key, { commonName: clusterID, organization: 'liqo.io' });
  const { tenantNamespace, authParams } = await post(
    'peering',
    {
      clusterID,
      publicKey: rawPublicKey(createPublicKey(key)),
      csr: Buffer.from(csr).toString('base64'),
      signature: sign(null, Buffer.from(nonce), key).toString('base64'),
    },
    Admission,
  );
  await objects.ensure(
    identity,
    {
      apiVersion: 'authentication.liqo.io/v1beta1',
      kind: 'Identity',
      metadata: { name, namespace, labels: { 'liqo.io/remote-cluster-id': provider } },
      spec: { clusterID: provider, type: 'ControlPlane', namespace: tenantNamespace, authParams },
    },
    signal,
  );
}

/** As Liqo made it when it was installed. */
async function ownIdentity(
  objects: KubeObjects,
  liqoNamespace: string,
  fail: Fail,
  signal: AbortSignal,
): Promise<{ readonly key: KeyObject; readonly clusterID: string }> {
  const home = `/api/v1/namespaces/${liqoNamespace}`;
  const [settings, secret] = await Promise.all([
    objects.get(`${home}/configmaps/liqo-clusterid-configmap`, signal),
    objects.get(`${home}/secrets/authentication-keys`, signal),
  ]);
  const id = ClusterId.safeParse(settings);
  const keys = Keys.safeParse(secret);
  const missing = id.success ? 'Secret authentication-keys' : 'ConfigMap liqo-clusterid-configmap';
  if (!id.success || !keys.success)
    throw fail(
      'config',
      `Liqo left no ${missing} in namespace ${liqoNamespace}: install Liqo there, or correct liqo.liqoNamespace`,
    );
  const key = privateKeyOf(Buffer.from(keys.data.data.privateKey, 'base64'));
  if (key) return { key, clusterID: id.data.data.CLUSTER_ID };
  throw fail('config', `privateKey of Secret ${liqoNamespace}/authentication-keys is no Ed25519 key`);
}

const tenantLabels = (provider: string): Record<string, string> => ({
  'liqo.io/remote-cluster-id': provider,
  'liqo.io/tenant-namespace': 'true',
});

async function ensureNamespace(
  objects: KubeObjects,
  name: string,
  provider: string,
  fail: Fail,
  signal: AbortSignal,
): Promise<void> {
  const labels = tenantLabels(provider);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  const there = (await objects.ensure(`/api/v1/namespaces/${name}`, namespace, signal)).metadata.labels ?? {};
  const wrong = Object.entries(labels).filter(([label, value]) => there[label] !== value);
  if (wrong.length === 0) return;
  const needed = wrong.map(([label, value]) => `${label}=${value}`).join(', ');
  throw fail(
    'config',
    `namespace ${name} is there already, and not Liqo's: label it ${needed}, or delete it`,
  );
}

/** Whoever could answer in the provider's place would be let into our cluster's pods. */
function secureAddress({ mgmtAddress }: MachineSpec, fail: Fail): URL {
  const address = httpAddress(mgmtAddress, 'liqo', fail);
  if (address.protocol === 'https:' || isLoopback(address)) return address;
  throw fail('config', 'peering in the clear is not done: use https:// in mgmtAddress');
}

/** What comes back is read once, and never repeated in an error. */
function talkTo(to: HttpPeer, signal: AbortSignal) {
  return async <Value>(path: string, body: object, schema: z.ZodType<Value>): Promise<Value> => {
    const request = {
      method: 'POST',
      path: `${to.address.pathname.replace(/\/$/, '')}/${path}`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await httpRequest(to, request, signal);
    if (answer.status < 200 || answer.status >= 300) throw refusalOf(to, answer);
    return parsed(to, schema, answer, path);
  };
}

/** What may be a nonce, a signature or a certificate. */
const longWords = /[\w+/=.-]{24,}/g;

function refusalOf({ who, fail }: HttpPeer, { status, headers, text }: HttpAnswer) {
  const why = reasonIn(text);
  const said = `${who} answered ${status}${why && ` (${why})`}`;
  // A nonce is valid for one exchange: another instance used it, or it expired. The next one is new.
  if ([409, 410, 429].includes(status) || status >= 500)
    return fail('busy', `${said} when we asked to peer`, retryAfterMs(headers['retry-after']));
  return fail('denied', `${said} when we asked to peer. Ask who runs it to let our cluster in`);
}

function reasonIn(text: string): string {
  try {
    const { error } = Refusal.parse(JSON.parse(text));
    return error
      .replace(longWords, '…')
      .replace(/\p{Cc}+/gu, ' ')
      .slice(0, 200);
  } catch {
    // Not in our words: the status says enough.
    return '';
  }
}
