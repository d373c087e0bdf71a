import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { Lease, Store } from '../../shared/ports/store.ts';
import type { Inventory } from '../../shared/state/inventory.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import {
  applyEvent,
  recordCommand,
  saveMetrics,
  saveObservation,
} from '../../shared/state/machine-writes.ts';
import { leaseOf, now, openInventory, powerOn, recordOf, revisionOf, settings } from './inventory-harness.ts';

let store: Store;
let inventory: Inventory;
let lease: Lease;
beforeEach(async () => {
  ({ store, inventory } = await openInventory());
  lease = await leaseOf(store);
});
afterEach(() => store.close());

const begin = async (id?: string) => {
  const record = await recordOf(inventory);
  return applyEvent(inventory, record, { ...powerOn(record, id), lease, settings, now });
};
const occur = async (event: MachineEvent, more: Partial<Parameters<typeof applyEvent>[2]> = {}, at = now) =>
  applyEvent(inventory, await recordOf(inventory), { event, by: 'test', lease, settings, now: at, ...more });
/** Another holder of the lease, while the first still believes in its own. */
async function takeOver(): Promise<void> {
  await store.commit([], [{ delete: lease.fence.key }]);
  await leaseOf(store);
}

describe('something happens to a machine', () => {
  test('state, history and operation change in one transaction', async () => {
    const before = await revisionOf(store);
    expect(await begin()).toEqual({ kind: 'changed', from: 'off', to: 'powering-on' });
    expect(await revisionOf(store)).toBe(before + 1);
    const { status, history } = await recordOf(inventory);
    expect(status).toMatchObject({ state: 'powering-on', stateSince: now, operation: 'op-1' });
    expect(history).toEqual([
      {
        at: now,
        by: 'evaluate-scaling',
        event: 'power-on-requested',
        from: 'off',
        to: 'powering-on',
        why: 'needed',
        operation: 'op-1',
      },
    ]);
    expect((await inventory.operation('op-1'))?.operation).toMatchObject({
      machine: 'm-1',
      goal: 'on',
      spec: { mgmtAddress: 'https://m-1.example', resources: { cpu: 4000 } },
      commands: [],
    });
  });

  test('what was seen with it is known to the guards and kept in the same transaction', async () => {
    await begin();
    expect(await occur({ type: 'powered-on' })).toMatchObject({
      kind: 'refused',
      reason: { code: 'power-differs', power: 'unknown', needed: 'on' },
    });
    const before = await revisionOf(store);
    const observed = { powerState: 'on', bmcReachable: true } as const;
    expect(await occur({ type: 'powered-on' }, { observed })).toMatchObject({ to: 'joining' });
    expect(await revisionOf(store)).toBe(before + 1);
    expect((await recordOf(inventory)).status).toMatchObject(observed);
  });

  test('what the lifecycle refuses writes nothing', async () => {
    const before = await revisionOf(store);
    expect(await occur({ type: 'drained' })).toMatchObject({ kind: 'refused' });
    expect(await revisionOf(store)).toBe(before);
  });

  test.each<[string, MachineEvent[], object]>([
    [
      'done',
      [{ type: 'powered-on' }, { type: 'joined', node: 'm-1' }],
      { end: 'done', endedAt: now + 1, error: undefined },
    ],
    [
      'failed',
      [{ type: 'failed', code: 'power-on-failed', message: 'the BMC said no' }],
      { end: 'failed', endedAt: now + 1, error: 'the BMC said no' },
    ],
  ])('the end of an operation is written with it: %s', async (_, events, end) => {
    await begin();
    const observed = { powerState: 'on', nodeReady: true } as const;
    for (const event of events)
      expect(await occur(event, { observed }, now + 1)).toMatchObject({ kind: 'changed' });
    const ended = (await inventory.operation('op-1'))?.operation;
    expect({ end: ended?.end, endedAt: ended?.endedAt, error: ended?.error }).toEqual(end);
    const { status, history } = await recordOf(inventory);
    expect(status.operation).toBeUndefined();
    expect(history.map(({ operation }) => operation)).toEqual([...events.map(() => 'op-1'), 'op-1']);
  });

  test('an operation id is used once', async () => {
    await begin();
    await occur({ type: 'failed', code: 'power-on-failed', message: 'no' });
    await occur({ type: 'found-off' }, { observed: { powerState: 'off' } });
    expect(await begin()).toEqual({ kind: 'conflict' });
    expect(await begin('op-2')).toMatchObject({ kind: 'changed' });
  });

  test('an intent needs the machine to be described as it was decided upon', async () => {
    const record = await recordOf(inventory);
    const key = `/baremetal/nodes/m-1/spec`;
    await store.commit([], [{ put: key, value: JSON.stringify({ v: 1, ...record.input, rack: 'other' }) }]);
    const result = await applyEvent(inventory, record, { ...powerOn(record), lease, settings, now });
    expect(result).toEqual({ kind: 'conflict' });
    expect(await inventory.operation('op-1')).toBeUndefined();
  });

  test('of two who read the same, the second is told to read again', async () => {
    const record = await recordOf(inventory);
    const both = await Promise.all(
      ['op-1', 'op-2'].map((id) =>
        applyEvent(inventory, record, { ...powerOn(record, id), lease, settings, now }),
      ),
    );
    expect(both.map(({ kind }) => kind).sort()).toEqual(['changed', 'conflict']);
    expect((await recordOf(inventory)).history).toHaveLength(1);
  });

  test('who no longer holds the lease changes nothing', async () => {
    await takeOver();
    const before = await revisionOf(store);
    expect(await begin()).toEqual({ kind: 'conflict' });
    expect(await revisionOf(store)).toBe(before);
  });

  test('the last 50 things that happened are kept', async () => {
    for (let round = 0; round < 30; round += 1) {
      await occur({ type: 'found-on' }, { observed: { powerState: 'on' }, why: `on ${round}` });
      await occur({ type: 'maintenance-began' });
      await occur({ type: 'maintenance-ended' });
    }
    const { history } = await recordOf(inventory);
    expect(history).toHaveLength(50);
    expect(history.at(-1)).toMatchObject({ event: 'maintenance-ended' });
    expect(history.at(-3)).toMatchObject({ why: 'on 29' });
  });
});

describe('what is seen of a machine', () => {
  test('is written where it differs, and only there', async () => {
    expect(await saveObservation(inventory, await recordOf(inventory), { powerState: 'off' })).toBe(true);
    const record = await recordOf(inventory);
    expect(record.status).toMatchObject({ powerState: 'off', state: 'off' });
    const before = await revisionOf(store);
    const same = { powerState: 'off', kubernetesNode: undefined, drain: undefined } as const;
    expect(await saveObservation(inventory, record, same)).toBe(true);
    expect(await revisionOf(store)).toBe(before);
    await saveObservation(inventory, record, { drain: { podsLeft: 1, podsTotal: 2 } });
    expect((await recordOf(inventory)).status.drain).toEqual({ podsLeft: 1, podsTotal: 2 });
  });

  test('does not overwrite what happened meanwhile', async () => {
    const stale = await recordOf(inventory);
    await begin();
    expect(await saveObservation(inventory, stale, { powerState: 'off' })).toBe(false);
    expect((await recordOf(inventory)).status.state).toBe('powering-on');
  });

  test('what an evaluation remembers is fenced too', async () => {
    await saveMetrics(inventory, [{ record: await recordOf(inventory), metrics: { idleSince: 5 } }], lease);
    expect((await recordOf(inventory)).metrics).toEqual({ idleSince: 5 });
    const record = await recordOf(inventory);
    await takeOver();
    await saveMetrics(inventory, [{ record, metrics: { idleSince: 6 } }], lease);
    expect((await recordOf(inventory)).metrics).toEqual({ idleSince: 5 });
  });
});

describe('a command is written down before it is sent', () => {
  const command = async (record: MachineRecord, at = now): Promise<boolean> => {
    const operation = await inventory.operation('op-1');
    if (!operation) throw new Error('there is no operation op-1');
    return recordCommand(inventory, record, operation, 'on', lease, at);
  };
  beforeEach(() => begin());

  test('with the operation and on the machine, in one transaction', async () => {
    const before = await revisionOf(store);
    expect(await command(await recordOf(inventory), now + 5)).toBe(true);
    expect(await revisionOf(store)).toBe(before + 1);
    expect((await inventory.operation('op-1'))?.operation.commands).toEqual([{ verb: 'on', at: now + 5 }]);
    expect((await recordOf(inventory)).status).toMatchObject({
      lastPowerAction: 'on',
      powerActionTime: now + 5,
    });
    expect(await command(await recordOf(inventory), now + 9)).toBe(true);
    expect((await inventory.operation('op-1'))?.operation.commands).toHaveLength(2);
  });

  test('not when the machine has changed since, nor without the lease', async () => {
    const stale = await recordOf(inventory);
    await saveObservation(inventory, stale, { powerState: 'on' });
    expect(await command(stale)).toBe(false);
    const record = await recordOf(inventory);
    await takeOver();
    expect(await command(record)).toBe(false);
    expect((await inventory.operation('op-1'))?.operation.commands).toEqual([]);
  });
});
