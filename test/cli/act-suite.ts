import { eventually } from '../../tools/support/eventually.ts';
import type { Ran } from './run-bamel.ts';
import type { Scene } from './scene.ts';

interface Told {
  readonly state: string;
  readonly history: readonly { readonly event: string; readonly by: string; readonly why?: string }[];
}

/** Commands that do something: carried out by the host, and kept in the history with who asked. */
export function actSuite(scene: () => Scene): void {
  const run = (...args: readonly string[]): Promise<Ran> => scene().run(...args);
  const machine = async (name: string): Promise<Told> =>
    JSON.parse((await run('describe', 'machine', name, '-o', 'json')).stdout);
  const person = /^\S+@\S+$/;

  test('maintenance: in the hands of a person until it is given back, whatever its description says', async () => {
    const on = await run('maintenance', 'm-2', 'on');
    expect(on).toMatchObject({ code: 0, stdout: 'm-2 is in maintenance\n' });
    expect(await machine('m-2')).toMatchObject({
      state: 'maintenance',
      maintenance: true,
      history: expect.arrayContaining([
        expect.objectContaining({ event: 'maintenance-began', by: expect.stringMatching(person) }),
      ]),
    });
    expect((await run('maintenance', 'm-2', 'on')).stdout).toBe('m-2 is in maintenance already\n');
    // Nobody takes it out of hand meanwhile: the host has looked at it again.
    const ticks = scene().host.lines.length;
    await eventually(() => expect(scene().host.lines.length).toBeGreaterThan(ticks + 5), 60_000);
    expect((await machine('m-2')).state).toBe('maintenance');
    expect((await run('power', 'm-2', 'on', '--store', scene().store)).stderr).toContain('maintenance');
    expect((await run('maintenance', 'm-2', 'off')).stdout).toBe('m-2 is back in service\n');
    await eventually(async () => expect((await machine('m-2')).state).toBe('off'), 60_000);
    expect(scene().world.commands('m-2')).toEqual([]);
  }, 200_000);

  test('drain and uncordon: begun, called off, and the node takes pods again', async () => {
    const [name = ''] = await scene().world.people.running('web');
    // A budget that never gives way: the drain waits for as long as it is let.
    await scene().protect('web');
    const drain = await run('drain', name, '--no-wait');
    expect([drain.code, drain.stdout, drain.stderr]).toEqual([0, `${name} is draining\n`, '']);
    const cordoned = async (): Promise<boolean> =>
      (await scene().world.people.core.readNode({ name })).spec?.unschedulable === true;
    await eventually(async () => expect(await cordoned()).toBe(true), 60_000);
    const off = await run('uncordon', name);
    expect([off.code, off.stdout]).toEqual([0, `${name} is ready: its drain is called off\n`]);
    await eventually(async () => expect(await cordoned()).toBe(false), 60_000);
    expect((await machine(name)).history[0]).toMatchObject({
      event: 'drain-aborted',
      by: expect.stringMatching(person),
      why: expect.stringContaining('called it off'),
    });
    expect(await scene().world.people.running('web')).toEqual([name]);
    expect((await run('uncordon', name)).stdout).toBe(`${name} takes pods already\n`);
    // What a person cordoned, a person may open.
    await scene().cordon(name);
    expect((await run('uncordon', name)).stdout).toBe(`${name} takes pods again\n`);
    expect((await machine(name)).history[0]).toMatchObject({ event: 'uncordoned' });
  }, 200_000);

  test('retry: that somebody dealt with it is written down', async () => {
    expect((await run('retry', 'm-2')).code).toBe(0);
    expect((await machine('m-2')).history[0]).toMatchObject({
      event: 'quarantine-lifted',
      by: expect.stringMatching(person),
    });
  });

  test.each([
    ['drain', [], 2, /which machine\? bamel drain MACHINE/],
    ['drain', ['m-1', 'm-2'], 2, /one machine at a time/],
    ['drain', ['m-1', '--timeout', 'soon'], 2, /--timeout soon: not a duration/],
    ['drain', ['nobody'], 1, /there is no machine called nobody/],
    ['uncordon', ['nobody'], 1, /there is no machine called nobody/],
    ['uncordon', ['m-2'], 1, /m-2 has no node to open: it is/],
    ['maintenance', ['m-1'], 2, /on or off\? bamel maintenance MACHINE on/],
    ['maintenance', ['nobody', 'on'], 1, /there is no machine called nobody/],
    ['retry', ['nobody'], 1, /there is no machine called nobody/],
  ] as const)('%s %j: the mistake is named', async (command, args, code, message) => {
    const ran = await run(command, ...args);
    expect(ran.stderr).toMatch(message);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
  });
}
