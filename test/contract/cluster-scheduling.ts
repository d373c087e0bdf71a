import { CoreV1Api, type V1PodSpec } from '@kubernetes/client-node';
import { conditionOf, isReady, podSpec, until } from '../../tools/worlds/cluster-client.ts';
import type { NodeOptions } from '../../tools/worlds/cluster-kubelet.ts';
import type { Subject } from './cluster-subject.ts';

const mergePatch = 'application/merge-patch+json';

/** Which pods run where, and what they are told when they do not. */
export function schedulingTests(subject: Subject): void {
  const core = () => subject.kubeConfig.makeApiClient(CoreV1Api);
  const mine = () => ({ 'contract/node': subject.namespace });
  const added: string[] = [];

  /** A node for this test's pods only: they select it by its label. */
  const addNode = async (suffix: string, options: NodeOptions = {}) => {
    const name = `${subject.namespace}-${suffix}`;
    added.push(name);
    await subject.harness.addNode(name, { ...options, labels: { ...mine(), ...options.labels } });
    return name;
  };
  const addPod = (name: string, spec: Partial<V1PodSpec> = {}, requests: Record<string, string> = {}) =>
    core().createNamespacedPod({
      namespace: subject.namespace,
      body: { metadata: { name }, spec: { ...podSpec(requests), nodeSelector: mine(), ...spec } },
    });
  const read = (name: string) => core().readNamespacedPod({ namespace: subject.namespace, name });
  const running = (name: string) =>
    until(`${name} runs`, async () => {
      const pod = await read(name);
      return pod.status?.phase === 'Running' && isReady(pod) ? pod : undefined;
    });
  const refused = (name: string, words: RegExp) =>
    until(`${name} is told ${words}`, async () => {
      const condition = conditionOf(await read(name), 'PodScheduled');
      return condition?.status === 'False' && words.test(condition.message ?? '') ? condition : undefined;
    });
  const patchNode = (name: string, spec: object) =>
    subject.send('PATCH', `/api/v1/nodes/${name}`, { body: { spec }, type: mergePatch });

  describe('scheduling', () => {
    afterEach(async () => {
      await Promise.all(added.splice(0).map((name) => subject.harness.removeNode(name)));
    });

    test('a pod runs on the node that its selector names, and an Event says so', async () => {
      const node = await addNode('a');
      await addPod('p');
      const pod = await running('p');
      expect(pod.spec?.nodeName).toBe(node);
      expect(conditionOf(pod, 'PodScheduled')?.status).toBe('True');
      const event = await until('the Event is there', async () => {
        const fieldSelector = 'involvedObject.name=p,reason=Scheduled';
        const { items } = await core().listNamespacedEvent({ namespace: subject.namespace, fieldSelector });
        return items[0];
      });
      expect(event.message).toBe(`Successfully assigned ${subject.namespace}/p to ${node}`);
    });

    test('a pod that is too big waits as Unschedulable, with reasons and an Event, until a node fits', async () => {
      await addNode('small', { cpu: '2' });
      await addPod('big', {}, { cpu: '16' });
      const condition = await refused('big', /Insufficient cpu/);
      expect(condition.reason).toBe('Unschedulable');
      const [why, preemption] = (condition.message ?? '').split(' no new claims to deallocate, preemption: ');
      expect(why).toMatch(/^0\/\d+ nodes are available: (\d+ [^.]+, )*\d+ Insufficient cpu(, [^.]+)?\.$/);
      expect(preemption).toMatch(
        /^0\/\d+ nodes are available: \d+ Preemption is not helpful for scheduling\.$/,
      );
      const event = await until('the Event is there', async () => {
        const fieldSelector = 'involvedObject.name=big,reason=FailedScheduling';
        const { items } = await core().listNamespacedEvent({ namespace: subject.namespace, fieldSelector });
        return items.find(({ message }) => message?.includes('Insufficient cpu'));
      });
      expect(event).toMatchObject({ type: 'Warning', involvedObject: { kind: 'Pod', name: 'big' } });
      const large = await addNode('large', { cpu: '32' });
      expect((await running('big')).spec?.nodeName).toBe(large);
    });

    test('pods fill a node up to what it has, extended and pod counts included', async () => {
      await addNode('a', { cpu: '4', pods: '3' });
      await addPod('one', {}, { cpu: '2' });
      await addPod('two', {}, { cpu: '2' });
      await Promise.all([running('one'), running('two')]);
      await addPod('three', {}, { cpu: '1' });
      await refused('three', /Insufficient cpu/);
      await addPod('gpu', {}, { 'example.com/gpu': '1' }).catch(async () => {
        // Extended resources must be asked for in limits too.
        const resources = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } };
        await addPod('gpu', { containers: [{ name: 'c', image: 'i', resources }] });
      });
      await refused('gpu', /Insufficient example\.com\/gpu/);
      await addPod('four');
      await running('four');
      await addPod('five');
      await refused('five', /Too many pods/);
      await core().deleteNamespacedPod({ namespace: subject.namespace, name: 'one' });
      await until('the room is used', async () => {
        const names = await Promise.all(['three', 'five'].map(read));
        return names.some(({ spec }) => spec?.nodeName);
      });
    });

    test('a cordoned node gets no pods until it is uncordoned', async () => {
      const node = await addNode('a');
      await patchNode(node, { unschedulable: true });
      await until('it is tainted', async () => {
        const { spec } = await core().readNode({ name: node });
        return spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/unschedulable');
      });
      await addPod('p');
      await refused('p', /node\(s\) were unschedulable/);
      const { items } = await core().listNode({ fieldSelector: 'spec.unschedulable=true' });
      expect(items.map(({ metadata }) => metadata?.name)).toContain(node);
      await patchNode(node, { unschedulable: null });
      await running('p');
      await until('the taint is gone', async () => {
        const { spec } = await core().readNode({ name: node });
        return !spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/unschedulable');
      });
    });

    test('taints keep pods away that do not tolerate them; NoExecute sends them away', async () => {
      const node = await addNode('a', { taints: [{ key: 'only', value: 'gpu', effect: 'NoSchedule' }] });
      await addPod('plain');
      await refused('plain', /untolerated taint/);
      await addPod('fits', {
        tolerations: [{ key: 'only', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }],
      });
      expect((await running('fits')).spec?.nodeName).toBe(node);
      await addPod('stays', { tolerations: [{ operator: 'Exists' }] });
      await running('stays');
      await patchNode(node, { taints: [{ key: 'go', effect: 'NoExecute' }] });
      await until(
        'the pod without a toleration is gone',
        async () =>
          (await subject.send('GET', `/api/v1/namespaces/${subject.namespace}/pods/fits`)).code === 404,
      );
      expect(isReady(await read('stays'))).toBe(true);
    });

    test('required node affinity chooses by expressions', async () => {
      await addNode('a', { labels: { zone: 'east', size: '8' } });
      const west = await addNode('b', { labels: { zone: 'west', size: '16' } });
      const spec = (...matchExpressions: { key: string; operator: string; values?: string[] }[]) => ({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
          },
        },
      });
      await addPod('in', spec({ key: 'zone', operator: 'In', values: ['west', 'north'] }));
      expect((await running('in')).spec?.nodeName).toBe(west);
      await addPod('gt', spec({ key: 'size', operator: 'Gt', values: ['10'] }));
      expect((await running('gt')).spec?.nodeName).toBe(west);
      await addPod('none', spec({ key: 'zone', operator: 'DoesNotExist' }));
      await refused('none', /didn't match Pod's node affinity\/selector/);
    });

    test('two pods cannot have the same host port of one node', async () => {
      await addNode('a');
      const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8080 }] }];
      await addPod('first', { containers });
      await running('first');
      await addPod('second', { containers });
      await refused('second', /didn't have free ports for the requested pod ports/);
    });

    test('a gated pod is not scheduled before its gates are lifted', async () => {
      await addNode('a');
      await addPod('gated', { schedulingGates: [{ name: 'example.com/wait' }] });
      const condition = await refused('gated', /gates/);
      expect(condition.reason).toBe('SchedulingGated');
      await subject.send('PATCH', `/api/v1/namespaces/${subject.namespace}/pods/gated`, {
        body: { spec: { schedulingGates: null } },
        type: mergePatch,
      });
      await running('gated');
    });

    test('a pod can be bound by hand, once', async () => {
      const node = await addNode('a');
      await addPod('bound', { schedulerName: 'by-hand' });
      const path = `/api/v1/namespaces/${subject.namespace}/pods/bound/binding`;
      const body = { metadata: { name: 'bound' }, target: { apiVersion: 'v1', kind: 'Node', name: node } };
      expect((await subject.send('POST', path, { body })).code).toBe(201);
      expect((await running('bound')).spec?.nodeName).toBe(node);
      const again = await subject.send('POST', path, { body });
      expect(again).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
      expect(again.body.message).toMatch(/already assigned to node/);
    });

    test('a running pod is deleted in two steps: marked, then gone once its kubelet stopped it', async () => {
      await addNode('a');
      const pods = `/api/v1/namespaces/${subject.namespace}/pods`;
      await addPod('p');
      const pod = await running('p');
      const watch = await subject.watch(pods, { resourceVersion: pod.metadata?.resourceVersion ?? '' });
      const deleted = await subject.send('DELETE', `${pods}/p`, { body: { gracePeriodSeconds: 5 } });
      expect(deleted).toMatchObject({
        code: 200,
        body: { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 5 } },
      });
      await until('it is gone', async () => (await subject.send('GET', `${pods}/p`)).code === 404);
      await until('the watch said so', async () => watch.seen.at(-1)?.type === 'DELETED');
      const marked = watch.seen.find(({ object }) => object.metadata.deletionTimestamp);
      expect(marked?.type).toBe('MODIFIED');
    });

    test('pods of a node that was removed are deleted', async () => {
      const name = await addNode('gone');
      await addPod('stranded');
      await running('stranded');
      added.splice(0);
      await subject.harness.removeNode(name);
      await until(
        'the pod is gone',
        async () =>
          (await subject.send('GET', `/api/v1/namespaces/${subject.namespace}/pods/stranded`)).code === 404,
        150,
      );
    });
  });
}
