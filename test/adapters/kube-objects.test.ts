import { kubeObjects } from '../../shared/adapters/kubernetes/objects.ts';
import {
  type KubeAnswer,
  type KubeCall,
  type KubeTransport,
  kubeTransport,
} from '../../shared/adapters/kubernetes/transport.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { type LabApi, startApi } from '../../simulator/lab/api/index.ts';

let api: LabApi;
let transport: KubeTransport;
beforeAll(async () => {
  api = await startApi({});
  transport = kubeTransport({ kubeconfig: api.kubeconfig() });
});
afterAll(async () => {
  transport.close();
  await api.close();
});

const patient = () => AbortSignal.timeout(30_000);
const folder = '/api/v1/namespaces/default/configmaps';
const settings = (name: string, labels = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data: { size: 'small' },
});
const failing = async (work: Promise<unknown>): Promise<PowerError> => {
  const error = await work.catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(PowerError);
  return error as PowerError;
};
const answering = (given: Partial<KubeAnswer>, calls: KubeCall[] = []) =>
  kubeObjects({
    async send(call) {
      calls.push(call);
      return { status: 200, headers: {}, text: '', ...given };
    },
  });

test('an object is made once, read, listed by its labels, changed and deleted', async () => {
  const objects = kubeObjects(transport);
  const path = `${folder}/one`;
  expect(await objects.get(path, patient())).toBeUndefined();
  const made = await objects.ensure(path, settings('one', { of: 'us' }), patient());
  expect(made).toMatchObject({ metadata: { name: 'one', namespace: 'default' }, data: { size: 'small' } });
  expect(await objects.ensure(path, { ...settings('one'), data: {} }, patient())).toEqual(made);
  await objects.ensure(`${folder}/two`, settings('two'), patient());
  const names = (await objects.list(folder, 'of=us', patient())).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['one']);
  expect(await objects.list(folder, undefined, patient())).toHaveLength(2);
  expect(await objects.patch(path, { data: { size: 'large' } }, patient())).toMatchObject({
    metadata: { labels: { of: 'us' } },
    data: { size: 'large' },
  });
  expect(await objects.remove(path, patient())).toBe(true);
  expect(await objects.remove(path, patient())).toBe(false);
  expect(await failing(objects.patch(path, {}, patient()))).toMatchObject({ code: 'busy' });
});

test('who was faster made it: that is what is there', async () => {
  let there = false;
  const objects = kubeObjects({
    async send(call, signal) {
      if (call.method === 'POST' && !there) {
        there = true;
        await transport.send({ ...call, body: settings('race', { by: 'another' }) }, signal);
      }
      return transport.send(call, signal);
    },
  });
  expect(await objects.ensure(`${folder}/race`, settings('race'), patient())).toMatchObject({
    metadata: { labels: { by: 'another' } },
  });
});

test.each(['/apis/authentication.liqo.io/v1beta1/namespaces/a/resourceslices/x', '/apis/no.such/v1/things'])(
  'that a kind is not served proves nothing about its objects: %s',
  async (path) => {
    const objects = kubeObjects(transport);
    for (const work of [objects.get(path, patient()), objects.remove(path, patient())]) {
      const error = await failing(work);
      expect(error).toMatchObject({ code: 'refused', final: false });
      expect(error.message).toContain('is Liqo installed?');
    }
    const text = answering({ status: 404, text: '404 page not found\n' });
    expect((await failing(text.get(path, patient()))).message).toContain('is Liqo installed?');
  },
);

test('a right that is missing is named', async () => {
  const message =
    'secrets "authentication-keys" is forbidden: User "system:serviceaccount:bamel:x" cannot get';
  const objects = answering({ status: 403, text: JSON.stringify({ message, details: { name: 'x' } }) });
  const error = await failing(objects.get('/api/v1/namespaces/liqo/secrets/authentication-keys', patient()));
  expect(error).toMatchObject({ code: 'refused' });
  expect(error.message).toContain(message);
  expect(error.message).toContain('config/remote');
  const denied = { message: 'admission webhook "rs" denied the request: the name is taken' };
  const webhook = answering({ status: 403, text: JSON.stringify(denied) });
  const no = await failing(webhook.patch(`${folder}/x`, {}, patient()));
  expect(no.message).toContain(denied.message);
  expect(no.message).not.toContain('config/remote');
});

test.each([
  [429, 'busy', 3_000],
  [503, 'unreachable', 3_000],
  [409, 'busy', undefined],
  [422, 'config', undefined],
  [401, 'refused', undefined],
] as const)('an answer of %d is %s', async (status, code, retryAfterMs) => {
  const headers: Record<string, string> = retryAfterMs ? { 'retry-after': '3' } : {};
  const objects = answering({ status, headers, text: '{}' });
  expect(await failing(objects.patch(`${folder}/x`, {}, patient()))).toMatchObject({ code, retryAfterMs });
});

test('what is wrong with what was sent is told without it', async () => {
  const causes = [{ field: 'data.key', reason: 'FieldValueInvalid', message: 'Invalid value: "canary-17"' }];
  const text = JSON.stringify({ message: 'data.key: Invalid value: "canary-17"', details: { causes } });
  for (const status of [400, 422]) {
    const { message } = await failing(answering({ status, text }).patch(`${folder}/x`, {}, patient()));
    expect(message).toContain('data.key: FieldValueInvalid');
    expect(message).not.toContain('canary-17');
  }
});

test('an answer that is no object is none', async () => {
  for (const text of ['<html>', '[]', '{"kind":"ConfigMap"}'])
    expect(await failing(answering({ text }).get(`${folder}/x`, patient()))).toMatchObject({
      code: 'refused',
    });
});

test('nobody there is unreachable, no answer is a time-out, and an aborted signal sends nothing', async () => {
  const nobody = kubeTransport({ kubeconfig: api.kubeconfig().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1') });
  expect(await failing(kubeObjects(nobody).get(`${folder}/x`, patient()))).toMatchObject({
    code: 'unreachable',
  });
  nobody.close();
  const silent = kubeObjects({
    send: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  expect(await failing(silent.get(`${folder}/x`, AbortSignal.timeout(50)))).toMatchObject({
    code: 'timeout',
  });
  const calls: KubeCall[] = [];
  const aborted = answering({}, calls).remove(`${folder}/x`, AbortSignal.abort());
  expect(await failing(aborted)).toMatchObject({ code: 'timeout' });
  expect(calls).toEqual([]);
});
