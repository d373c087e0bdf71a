import { requestDrain } from '../../shared/by-hand/drain.ts';
import { endQuarantine } from '../../shared/by-hand/end-quarantine.ts';
import { setMaintenance } from '../../shared/by-hand/maintenance.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { startWorld, tickUntil, type World } from './harness.ts';

let world: World;
afterEach(() => world.close());

const serving = { state: 'ready', powerState: 'on', kubernetesNode: 'm-1', nodeReady: true } as const;
async function start(status: Partial<MachineStatus> = {}, described = {}): Promise<void> {
  world = await startWorld({ machines: [{ name: 'm-1', ...described }] });
  await world.process().tick();
  const { status: before } = await world.record('m-1');
  const value = JSON.stringify({ v: 1, ...before, ...status });
  await world.store.commit([], [{ put: '/baremetal/nodes/m-1/status', value }]);
}
const hands = () => world.process().deps;
const by = 'anna@desk';

test('maintenance by hand lasts over looks at its BMC, guards it, and ends by hand', async () => {
  await start();
  expect(await setMaintenance(hands(), 'm-1', true, by)).toEqual({
    ok: true,
    answer: 'm-1 is in maintenance',
  });
  await world.process().tick();
  await world.process().tick();
  const { spec, status, history } = await world.record('m-1');
  expect([spec.maintenance, status.state, status.setAside?.by]).toEqual([true, 'maintenance', by]);
  expect(history.at(-1)).toMatchObject({ event: 'maintenance-began', by, why: 'anna@desk took it in hand' });
  expect(await setMaintenance(hands(), 'm-1', true, by)).toMatchObject({
    answer: 'm-1 is in maintenance already',
  });
  expect(await setMaintenance(hands(), 'm-1', false, by)).toMatchObject({ ok: true });
  const after = await world.record('m-1');
  expect([after.spec.maintenance ?? false, after.status.state]).toEqual([false, 'off']);
  expect(await setMaintenance(hands(), 'm-1', false, by)).toMatchObject({
    answer: 'm-1 is not in maintenance',
  });
});

test('maintenance that its description asks for is not ended by hand', async () => {
  await start({}, { maintenance: true });
  await tickUntil(
    world,
    world.process(),
    async () => (await world.record('m-1')).status.state === 'maintenance',
  );
  expect(await setMaintenance(hands(), 'm-1', false, by)).toMatchObject({
    ok: false,
    why: expect.stringContaining('Take that out where it is described'),
  });
});

test('what is under way is not interrupted: it is said what is', async () => {
  await start({ ...serving, state: 'draining', operation: 'op-1' });
  expect(await setMaintenance(hands(), 'm-1', true, by)).toMatchObject({
    ok: false,
    why: expect.stringMatching(/^m-1 is draining: .*Ask again once that is over$/),
  });
});

test('a quarantine that is lifted is over, and it is kept who lifted it', async () => {
  const lastError = { code: 'never-joined', message: 'no Ready node', at: 1 } as const;
  await start({ state: 'error', lastError, retryAt: Number.MAX_SAFE_INTEGER, attempts: 3 });
  expect(await endQuarantine(hands(), 'm-1', by)).toMatchObject({ ok: true });
  const { status, history } = await world.record('m-1');
  expect(status.retryAt).toBeUndefined();
  expect(history.at(-1)).toMatchObject({ event: 'quarantine-lifted', by, from: 'error', to: 'error' });
});

test('uncordon by hand calls a drain off, and whoever drains is woken', async () => {
  await start({ ...serving, state: 'draining', operation: 'op-1' });
  const asked = await requestDrain(hands(), 'm-1', { action: 'uncordon', by });
  expect(asked).toMatchObject({ ok: true, answer: 'm-1 is ready: its drain is called off' });
  expect(world.emitted.at(-1)?.type).toBe('dev.bamel.drain.aborted');
  expect((await world.record('m-1')).history.at(-1)).toMatchObject({ event: 'drain-aborted', by });
});

test('uncordon by hand: too late once it is drained', async () => {
  await start({ ...serving, state: 'powering-off', operation: 'op-1' });
  expect(await requestDrain(hands(), 'm-1', { action: 'uncordon', by })).toMatchObject({
    ok: false,
    why: expect.stringContaining('on its way off'),
  });
});
