import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openApi } from '../../apps/api/api.ts';
import { connect } from '../../apps/host/connect.ts';
import { createFunctions } from '../../functions/index.ts';
import { basicAuth } from '../../shared/http/address.ts';
import { events } from '../../shared/ports/event-types.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { createLocalSink, type LocalSink } from '../../shared/server/local-sink.ts';
import { serve } from '../../shared/server/serve.ts';
import { backup } from '../../shared/state/backup.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { rows } from '../../shared/view/rows.ts';
import { labConfig, labCredentials } from '../../simulator/lab/config.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { machines, playStory, startWorld, storyConfig } from '../../tools/worlds/story.ts';

const canary = 'canary-4f1e-Zm9v';
const user = 'operator-7d2c';
const forms = [
  canary,
  ...(['base64', 'base64url', 'hex'] as const).map((as) => Buffer.from(canary).toString(as)),
  basicAuth({ username: user, password: canary }).slice('Basic '.length),
  encodeURIComponent(canary),
];

test('fault 37: a password is in no log, event, error, metric, decision, page or backup, whatever happens', async () => {
  await using cleanup = new AsyncDisposableStack();
  const world = await startWorld({
    machines: machines.map((machine) => ({ ...machine, credentials: { user, password: canary } })),
  });
  cleanup.defer(() => world.close());
  const inventory = world.lab.inventory();
  const read = readSettings(['--store', 'embedded:'], {});
  if (!('settings' in read)) throw new Error('these settings ask for help');

  const written: string[] = [];
  const emitted: BamelEvent[] = [];
  const log = createLog({ level: 'trace', format: 'json', stream: { write: (line) => written.push(line) } });
  const { deps, close } = await connect({
    settings: read.settings,
    log,
    kubeconfig: world.lab.kubeconfig,
    credentials: labCredentials(inventory),
  });
  cleanup.defer(close);
  await loadInventory(deps.inventory.store, labConfig(inventory, storyConfig));

  const metrics = createMetrics();
  let local: LocalSink | undefined;
  const sink = {
    async emit(event: BamelEvent) {
      emitted.push(event);
      await local?.emit(event);
    },
  };
  const functions = createFunctions({ ...deps, sink });
  const deadLetters = createDeadLetters(deps.inventory.store);
  local = createLocalSink({ functions, clock: deps.clock, log, metrics, deadLetters, concurrency: 16 });
  const lanes = local;
  cleanup.defer(() => lanes.close());
  const api = await openApi(deps);
  cleanup.defer(() => api.close());
  const served = await serve(functions, { host: '127.0.0.1', port: 0, log, metrics, routes: api.routes });
  cleanup.defer(() => served.close());
  const tick = setInterval(() => void sink.emit({ type: events.tick, subject: 'everything', data: {} }), 500);
  cleanup.defer(() => clearInterval(tick));

  // What breaks on the way is what errors are made of.
  const breakMachine = (name: string, fault: string, more: object = {}) =>
    world.lab.machines.get(name)?.machine.faults.set({ fault, ...more });
  breakMachine('m-1', 'unavailable', { times: 2 });
  breakMachine('m-2', 'drop', { times: 2 });
  await playStory(world);
  breakMachine('m-1', 'wrong-credentials');
  breakMachine('m-2', 'hang');
  const said = (what: string) =>
    eventually(() => expect(written.filter((line) => line.includes(what))).not.toEqual([]), 60_000);
  await world.people.deploy('late', 2, { cpu: '3', memory: '1Gi' });
  await said('refused the credentials');
  await said('did not answer in time');
  clearInterval(tick);

  const page = async (path: string, init?: RequestInit) =>
    (await fetch(`${served.url}${path}`, { ...init, signal: AbortSignal.timeout(20_000) })).text();
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const pages = rows.map(({ path }) => path.replace('{name}', 'm-1'));
  const everything = {
    logs: written.join(''),
    events: JSON.stringify(emitted),
    backup: await text(Readable.from(backup(deps.inventory.store, new Date(), () => undefined))),
    metrics: await page('/metrics'),
    answers: (await Promise.all(functions.map((one) => page(`/${one.definition.name}`, post)))).join('\n'),
    pages: (await Promise.all(pages.map((path) => page(path)))).join('\n'),
    nodes: JSON.stringify(await world.people.core.listNode()),
    clusterEvents: JSON.stringify(await world.people.core.listEventForAllNamespaces()),
  };
  for (const [where, what] of Object.entries(everything)) {
    expect(`${where} ${what.length > 20 ? 'has' : 'lacks'} content`).toBe(`${where} has content`);
    for (const form of forms) expect(`${where}: ${what.includes(form)}`).toBe(`${where}: false`);
  }
  // What is searched is what was meant to be.
  expect(everything.logs).toContain('m-1');
  expect(everything.backup).toContain('/baremetal/decisions/');
  expect(emitted.map(({ type }) => type)).toContain(events.machinePowered);
}, 180_000);
