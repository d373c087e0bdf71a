import { connect } from '../../../apps/host/connect.ts';
import { createFunctions, functionTable } from '../../../functions/index.ts';
import { kubeTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { events } from '../../../shared/ports/event-types.ts';
import type { Store } from '../../../shared/ports/store.ts';
import { createLog } from '../../../shared/process/log.ts';
import { createMetrics } from '../../../shared/process/metrics.ts';
import { readSettings } from '../../../shared/process/settings.ts';
import { serve } from '../../../shared/server/serve.ts';
import { kubeTokenReview } from '../../../shared/server/token-review.ts';
import { createDeadLetters } from '../../../shared/state/dead-letters.ts';
import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import {
  brokerPrograms,
  type KnativeBroker,
  postEvent,
  startKnativeBroker,
  triggerCaller,
  untilRouted,
} from '../../../tools/real-stack/knative/knative-broker.ts';
import { netnsPrograms } from '../../../tools/real-stack/netns.ts';
import { type Recorder, startRecorder } from '../../../tools/real-stack/recorder.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';

/** Served for real, on a store without machines; the others only note what they get. */
const real = ['power-action', 'dead-letters'];

describeWith(
  [...controlPlanePrograms, ...brokerPrograms, ...netnsPrograms, 'go'],
  'our Broker and Triggers on Knative’s ingress, channel and filter',
  () => {
    let broker: KnativeBroker;
    let store: Store;
    /** By function, where it listens. */
    const ports: Record<string, number> = {};
    const recorders = new Map<string, Recorder>();
    const cleanup = new AsyncDisposableStack();

    beforeAll(async () => {
      const plane: ControlPlane = await startControlPlane();
      cleanup.defer(() => plane.close());
      const read = readSettings(['--store', 'embedded:'], {});
      if (!('settings' in read)) throw new Error('these settings ask for help');
      const log = createLog({ level: 'silent', format: 'json' });
      const { deps, close } = await connect({
        settings: read.settings,
        log,
        kubeconfig: plane.kubeConfig.exportConfig(),
      });
      cleanup.defer(close);
      store = deps.inventory.store;
      const kube = kubeTransport({ kubeconfigFile: plane.kubeConfigFile });
      cleanup.defer(async () => kube.close());
      const review = kubeTokenReview(kube, {
        audience: 'bamel',
        callers: [triggerCaller],
        clock: deps.clock,
        log,
      });
      const functions = createFunctions({ ...deps, sink: { emit: async () => undefined } });
      for (const { definition } of functionTable) {
        const { name } = definition;
        if (real.includes(name)) {
          const one = functions.filter((served) => served.definition.name === name);
          const where = { host: '127.0.0.1', port: 0, log, metrics: createMetrics(), review };
          const served = await serve(one, where);
          cleanup.defer(() => served.close());
          ports[name] = served.port;
          continue;
        }
        const recorder = await startRecorder();
        cleanup.defer(() => recorder.close());
        recorders.set(name, recorder);
        ports[name] = recorder.port;
      }
      broker = await startKnativeBroker(plane, ports);
      cleanup.defer(() => broker.close());
      const evaluate = recorderOf('evaluate-scaling');
      await untilRouted(broker.url, () => evaluate.got.length > 0, { type: events.podWaiting });
    }, 400_000);
    afterAll(() => cleanup.disposeAsync(), 60_000);

    function recorderOf(name: string): Recorder {
      const recorder = recorders.get(name);
      if (!recorder) throw new Error(`${name} is served for real`);
      return recorder;
    }
    const receivers = (id: string): string[] =>
      [...recorders].filter(([, { got }]) => got.some((one) => one.id === id)).map(([name]) => name);

    test.each([
      ['dev.bamel.pod.waiting', {}, ['evaluate-scaling']],
      ['dev.bamel.machine.powered', {}, ['join-watcher', 'sync-inventory']],
      ['dev.bamel.drain.requested', {}, ['drain-node']],
      [
        'dev.knative.sources.ping',
        {},
        ['evaluate-scaling', 'join-watcher', 'drain-node', 'sync-inventory', 'discovery'],
      ],
      ['dev.bamel.node.changed', {}, ['join-watcher']],
      ['dev.bamel.inventory.changed', {}, ['sync-inventory']],
      ['dev.knative.apiserver.ref.update', { kind: 'Pod' }, []],
      ['com.example.other', {}, []],
    ])('%s %j reaches %j', async (type, extensions, wanted) => {
      const id = crypto.randomUUID();
      // The channel answers when all subscribers have, so nobody gets it afterwards.
      expect(await postEvent(broker.url, { type, id, extensions })).toBe(202);
      expect(receivers(id).sort()).toEqual([...wanted].sort());
    });

    test('503 and 404 are tried again with the same id, until it is taken', async () => {
      const { answers, got } = recorderOf('drain-node');
      answers.push(503, 404, 503);
      const id = crypto.randomUUID();
      expect(await postEvent(broker.url, { type: events.drainRequested, id })).toBe(202);
      expect(got.filter((one) => one.id === id)).toHaveLength(4);
      expect(await createDeadLetters(store).list()).toEqual([]);
    }, 60_000);

    test('what is refused for good is a dead letter, with the reason, after one try', async () => {
      const { answers, got } = recorderOf('drain-node');
      answers.push(422);
      const id = crypto.randomUUID();
      await postEvent(broker.url, {
        type: events.drainRequested,
        id,
        subject: 'm-7',
        data: { machine: 'm-7' },
      });
      expect(got.filter((one) => one.id === id)).toHaveLength(1);
      const letters = createDeadLetters(store);
      const [letter] = await eventually(async () => {
        const kept = await letters.list();
        expect(kept).toHaveLength(1);
        return kept;
      });
      expect(letter).toMatchObject({
        event: { type: events.drainRequested, subject: 'm-7', data: { machine: 'm-7' } },
        function: 'drain-node',
        lastError: expect.stringContaining('422'),
      });
      await letters.remove(letter?.id ?? '');
    }, 60_000);

    test('fault 39: the functions take what a Trigger sends with its token, and nothing without', async () => {
      const id = crypto.randomUUID();
      const event = { type: events.powerRequested, id, subject: 'nobody', data: { machine: 'nobody' } };
      for (const name of real) expect(await postEvent(`http://127.0.0.1:${ports[name]}/`, event)).toBe(401);
      // Refused by the function itself, which saw it; and taken by the dead letters, which want a token too.
      await postEvent(broker.url, event);
      const letters = createDeadLetters(store);
      await eventually(async () =>
        expect(await letters.list()).toMatchObject([{ lastError: expect.stringContaining('422') }]),
      );
      for (const { id: kept } of await letters.list()) await letters.remove(kept);
    }, 60_000);

    test('an outage that outlasts all tries ends as a dead letter too', async () => {
      const { answers, got } = recorderOf('drain-node');
      answers.push(...Array.from({ length: 7 }, () => 503));
      const id = crypto.randomUUID();
      await postEvent(broker.url, { type: events.drainRequested, id });
      expect(got.filter((one) => one.id === id)).toHaveLength(7);
      const letters = createDeadLetters(store);
      await eventually(async () => expect(await letters.list()).toMatchObject([{ function: 'drain-node' }]));
      for (const { id: kept } of await letters.list()) await letters.remove(kept);
    }, 120_000);

    test('fault 42: a poison event becomes a dead letter, the rest goes on', async () => {
      const letters = createDeadLetters(store);
      const evaluate = recorderOf('evaluate-scaling');
      const before = evaluate.got.length;
      const poison = { type: events.powerRequested, subject: 'nobody', data: { machine: 'nobody' } };
      const wrong = { type: events.powerRequested, subject: 'x', data: { machin: 'x' } };
      const rest = Array.from({ length: 20 }, () => postEvent(broker.url, { type: events.podWaiting }));
      const sent = await Promise.all([postEvent(broker.url, poison), postEvent(broker.url, wrong), ...rest]);
      expect(new Set(sent)).toEqual(new Set([202]));
      const kept = await eventually(async () => {
        const found = await letters.list();
        expect(found).toHaveLength(2);
        return found.sort((a, b) => a.event.subject.localeCompare(b.event.subject));
      });
      expect(kept).toMatchObject([
        { function: 'power-action', lastError: 'it answered 422: there is no machine called nobody' },
        { function: 'power-action', lastError: expect.stringMatching(/400: machin: unknown field/) },
      ]);
      expect(evaluate.got.length - before).toBe(20);
    }, 120_000);
  },
);
