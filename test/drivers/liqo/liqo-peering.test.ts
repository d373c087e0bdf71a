import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { permissions, remotePermissions } from '../../../functions/permissions.ts';
import type { KubeCall } from '../../../shared/adapters/kubernetes/transport.ts';
import { certificateRequest, csrProblem } from '../../../shared/crypto/csr.ts';
import { rawPublicKey } from '../../../shared/crypto/ed25519.ts';
import type { KubeObject } from '../../../shared/ports/kubernetes-objects.ts';
import { PowerError } from '../../../shared/ports/power.ts';
import { namespaces } from '../../../simulator/lab/api/resource-types.ts';
import { identities } from '../../../simulator/lab/liqo/types.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { patient } from '../harness.ts';
import { type LiqoWorld, provider, startLiqoWorld, tenant } from './liqo-world.ts';

let world: LiqoWorld;
beforeEach(async () => {
  world = await startLiqoWorld();
});
afterEach(() => world.close());

const powerOn = async (name = 'lent-1', signal = patient()) =>
  (await world.driver({ name })).set('on', signal, 'op');
const identity = () => world.store.get(identities, tenant, `controlplane-${provider}`);
const keys = '/api/v1/namespaces/liqo/secrets/authentication-keys';
const privateKey = async (): Promise<string> => {
  const { data } = (await world.liqo.objects.get(keys, patient())) as KubeObject & {
    data: { privateKey: string };
  };
  return data.privateKey;
};

/** The error that powering on ends with: it never shows what is secret, however deep one looks. */
async function failure(work: () => Promise<unknown> = powerOn): Promise<PowerError> {
  const error = await work().then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(PowerError);
  const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });
  const secret = await privateKey();
  const lines = Buffer.from(secret, 'base64')
    .toString()
    .split('\n')
    .filter((line) => /^[\w+/=]{20,}$/.test(line));
  expect(lines).not.toEqual([]);
  for (const canary of [secret, ...lines, ...canaries]) expect(shown).not.toContain(canary);
  return error as PowerError;
}
const canaries = ['canary-0123456789abcdef-nonce', Buffer.from('canary certificate').toString('base64')];
const [nonce, signedCRT] = canaries;

test('peers once: a nonce, its signature and a CSR travel, an Identity stays', async () => {
  await Promise.all(['lent-1', 'lent-2', 'lent-3'].map((name) => powerOn(name)));
  await powerOn('lent-4');
  expect(world.asked).toEqual(['nonce', 'peering']);
  expect(world.store.find(namespaces, undefined, tenant).metadata.labels).toMatchObject({
    'liqo.io/remote-cluster-id': provider,
    'liqo.io/tenant-namespace': 'true',
  });
  expect(identity()).toMatchObject({
    metadata: { labels: { 'liqo.io/remote-cluster-id': provider } },
    spec: {
      clusterID: provider,
      type: 'ControlPlane',
      namespace: 'liqo-tenant-home',
      authParams: { apiServer: `https://${provider}.test:6443`, signedCRT: expect.any(String) },
    },
  });
  expect(world.sent.join()).not.toContain(await privateKey());
  expect(JSON.parse(world.sent.at(-1) ?? '')).toMatchObject({
    clusterID: 'home',
    publicKey: expect.stringMatching(/^[\w+/]{43}=$/),
  });
});

test('who peered by hand needs no exchange', async () => {
  world.liqo.peer(provider);
  await powerOn();
  expect(world.asked).toEqual([]);
  expect(world.there()).toContain('slice');
});

test.each(['namespaces', 'identities', 'resourceslices'])(
  'killed when it is about to write %s, the next try goes on',
  async (kind) => {
    world.failOnce = new RegExp(`${kind}$`);
    expect(await failure()).toMatchObject({ code: 'unreachable' });
    await powerOn();
    expect(identity()).toBeDefined();
    expect(world.there()).toContain('slice');
  },
);

test.each([
  [403, 'unknown peer home', 'denied', undefined],
  [410, 'the nonce is used up', 'busy', undefined],
  [409, 'replayed', 'busy', undefined],
  [429, 'slow down', 'busy', 7_000],
  [503, 'Liqo does not answer', 'busy', 7_000],
] as const)('an answer of %d is told with its reason: %s', async (status, error, code, retryAfterMs) => {
  world.door = { status, body: { error }, headers: retryAfterMs ? { 'retry-after': '7' } : {} };
  const problem = await failure();
  expect(problem).toMatchObject({ code, retryAfterMs });
  expect(problem.message).toContain(`its provider ${provider} answered ${status} (${error})`);
  expect(world.there()).toEqual([]);
});

test('a provider that repeats what it was sent, or answers nonsense, gives nothing away', async () => {
  for (const body of [
    { error: `bad ${nonce} ${signedCRT}` },
    nonce,
    { nonce: [nonce] },
    { tenantNamespace: 'x', authParams: { apiServer: 'http://plain', ca: '', signedCRT } },
  ]) {
    world.door = { status: 400, body };
    expect((await failure()).message).toContain('answered 400');
    world.door = { status: 200, body };
    await failure();
  }
  expect(identity()).toBeUndefined();
});

test('trap: a provider that never answers is a time-out, and nothing is left half done', async () => {
  world.door = 'silent';
  expect(await failure(() => powerOn('lent-1', AbortSignal.timeout(500)))).toMatchObject({ code: 'timeout' });
  expect(identity()).toBeUndefined();
  world.door = undefined;
  await powerOn();
  expect(identity()).toBeDefined();
});

test('an Identity that the API server refuses is told by its fields, not by what was in them', async () => {
  world.refuse = { path: /identities$/, value: `${signedCRT}` };
  const error = await failure();
  expect(error).toMatchObject({ code: 'config' });
  expect(error.message).toContain('spec.authParams.signedCRT: FieldValueInvalid');
});

test('peering in the clear is done on this machine only', async () => {
  const driver = await world.driver({ mgmtAddress: 'http://10.0.0.9/discovery' });
  const error = await failure(() => driver.set('on', patient(), 'op'));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('https://') });
  expect(world.asked).toEqual([]);
});

test('a namespace that is not Liqo’s is left alone', async () => {
  world.store.create(namespaces, { metadata: { name: tenant } });
  const error = await failure();
  expect(error).toMatchObject({ code: 'config' });
  expect(error.message).toContain(`liqo.io/remote-cluster-id=${provider}`);
});

test('where Liqo is not installed, that is said', async () => {
  await world.liqo.objects.remove(keys, patient());
  const error = await (await world.driver()).set('on', patient(), 'op').catch((problem: unknown) => problem);
  expect(error).toMatchObject({
    code: 'config',
    message: expect.stringContaining('no Secret authentication-keys in namespace liqo'),
  });
});

test('all of it is done with the rights that config/remote/consumer and power-action have', async () => {
  const driver = await world.driver();
  await driver.set('on', patient(), 'op');
  await driver.read(patient());
  await (await world.driver({ resources: { ...world.spec.resources, cpu: 500 } })).set('on', patient(), 'op');
  await driver.set('soft-off', patient(), 'op');
  await world.strays(() => true);
  const { consumer } = remotePermissions;
  const given = [...(permissions['power-action']?.clusterWide ?? []), ...(consumer?.clusterWide ?? [])];
  const verbs = { GET: 'get', POST: 'create', PATCH: 'patch', DELETE: 'delete' };
  const allowed = ({ method, path }: Pick<KubeCall, 'method' | 'path'>): boolean => {
    const [, group = '', namespace, resource = '', name] =
      /^\/apis?(?:\/([^/]+\.[^/]+))?\/v[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?$/.exec(
        path,
      ) ?? [];
    const isList = method === 'GET' && name === undefined;
    const verb = isList ? 'list' : verbs[method as keyof typeof verbs];
    const rules = namespace === 'liqo' ? [...given, ...(consumer?.inLiqo ?? [])] : given;
    return rules.some(
      (rule) =>
        rule.apiGroup === group &&
        rule.resources.includes(resource) &&
        rule.verbs.includes(verb) &&
        (!rule.names || rule.names.includes(name ?? '')),
    );
  };
  expect(world.calls.length).toBeGreaterThan(15);
  expect(world.calls.filter((call) => !allowed(call))).toEqual([]);
});

describeWith(['openssl'], 'a request for a certificate', () => {
  test.each(['home', 'a'.repeat(63), 'b'.repeat(200)])('is one to openssl, of %s', (commonName) => {
    const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
    const input = certificateRequest(key, { commonName, organization: 'liqo.io' });
    const openssl = (...args: string[]) =>
      execFileSync('openssl', ['req', '-noout', ...args], { input, encoding: 'utf8', stdio: 'pipe' });
    // Fails unless the signature is its own.
    openssl('-verify');
    expect(openssl('-subject', '-nameopt', 'RFC2253')).toBe(`subject=CN=${commonName},O=liqo.io\n`);
    const shown = createPublicKey(openssl('-pubkey'));
    expect(shown.equals(publicKey)).toBe(true);
    const wanted = { commonName, organization: 'liqo.io', publicKey: rawPublicKey(publicKey) };
    expect(csrProblem(input, wanted)).toBeUndefined();
    expect(csrProblem(input, { ...wanted, commonName: 'another' })).toBeDefined();
    // Without attributes, but with a place for them: Go insists on that, openssl does not.
    const parts = execFileSync('openssl', ['asn1parse'], { input, encoding: 'utf8' });
    expect(parts).toMatch(/cont \[ 0 \]/);
  });
});
