import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parse } from 'yaml';
import { eventually } from '../../tools/support/eventually.ts';
import type { Ran } from './run-bamel.ts';
import type { Scene } from './scene.ts';

/** Commands that only look: their tables, what programs read of them, and mistakes. */
export function lookSuite(scene: () => Scene): void {
  const run = (...args: readonly string[]): Promise<Ran> => scene().run(...args);
  const onStore = (...args: readonly string[]): Promise<Ran> =>
    scene().bamel.run([...args, '--store', scene().store]);
  const serving = async (): Promise<string> => (await scene().world.people.running('web'))[0] ?? '';

  test.each([
    ['get', 'KIND [NAME…]'],
    ['describe', 'machine NAME'],
    ['explain', '--server URL'],
    ['top', '[machines|pools]'],
    ['events', '--follow'],
    ['drain', '--timeout DURATION'],
    ['uncordon', '--server URL'],
    ['maintenance', 'MACHINE on|off'],
    ['retry', '--token-file FILE'],
    ['completion', 'bash|zsh|fish'],
  ])('%s --help says how it is used', async (name, part) => {
    const { code, stdout, stderr } = await run(name, '--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`\n\nbamel ${name} `);
    expect(stdout).toContain(part);
  });

  test('get machines: an aligned table, without colours where nobody looks', async () => {
    const { code, stdout, stderr } = await run('get', 'machines');
    expect([code, stderr]).toEqual([0, '']);
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^NAME +POOL +STATE +SINCE +POWER +NODE +PODS +CPU +WATTS$/);
    expect(rows).toHaveLength(2);
    const column = head.indexOf('STATE');
    expect(rows.map((row) => row.slice(column).split(' ')[0]).sort()).toEqual(['off', 'ready']);
    expect(stdout).not.toContain('\u001b');
    expect((await run('get', 'm', '-o', 'wide')).stdout).toMatch(/^NAME .* DRIVER +BMC /);
  });

  test('get: json, yaml and names say the same; one name gives the thing itself', async () => {
    const list = JSON.parse((await run('get', 'machines', '-o', 'json')).stdout);
    expect(list.items.map(({ name }: { name: string }) => name)).toEqual(['m-1', 'm-2']);
    const one = parse((await run('get', 'machine', 'm-2', '-o', 'yaml')).stdout);
    expect(one).toMatchObject({ name: 'm-2', pool: 'rack', resources: { cpu: 4_000 } });
    expect((await run('get', 'machines', '-o', 'name')).stdout).toBe('machine/m-1\nmachine/m-2\n');
  });

  test('every kind has a table and a list, by its short name as well', async () => {
    for (const [word, head] of [
      ['pools', /^NAME +READY +COMING +LEAVING/],
      ['d', /^ID +AGE +ON +DRAIN +UNMET +SUMMARY\nd-/],
      ['ops', /^ID +MACHINE +GOAL +END +AGE +TOOK +COMMANDS\nop-.* on +done /],
      ['ev', /^AGE +MACHINE +EVENT +STATE +BY +WHY\n[\s\S]*joining → ready/],
    ] as const)
      expect((await run('get', word)).stdout).toMatch(head);
    await eventually(
      async () => expect((await run('get', 'pods')).stdout).toMatch(/^POD .*\nstory\/giant-\S+ .* 64 cpu /),
      60_000,
    );
  });

  test('the store itself gives the same as the host', async () => {
    type List = { items: { name: string; state: string; history: unknown }[] };
    const read = async (ran: Promise<Ran>): Promise<unknown> =>
      (JSON.parse((await ran).stdout) as List).items.map(({ name, state }) => ({ name, state }));
    expect(await read(onStore('get', 'machines', '-o', 'json'))).toEqual(
      await read(run('get', 'machines', '-o', 'json')),
    );
    const name = await serving();
    const [there, here] = await Promise.all([
      onStore('describe', 'machine', name, '-o', 'json'),
      run('describe', 'machine', name, '-o', 'json'),
    ]);
    const historyOf = ({ stdout }: Ran): unknown => JSON.parse(stdout).history;
    expect(historyOf(there)).toEqual(historyOf(here));
    expect((await onStore('get', 'pods')).stderr).toContain('give --kubeconfig, or ask the host');
  });

  test('describe: a machine, a pool, the latest decision', async () => {
    const name = await serving();
    const machine = (await run('describe', 'machine', name)).stdout;
    expect(machine).toMatch(/^State: +ready \(serving as a node\)$/m);
    expect(machine).toMatch(/^Node: +\S+, Ready$/m);
    expect(machine).toMatch(/^Operations:\n {2}ID /m);
    expect(machine).toMatch(/^Events:\n {2}AGE +EVENT /m);
    expect((await run('describe', 'pool', 'rack')).stdout).toMatch(
      /^States: +1 (off|ready), 1 (off|ready)$/m,
    );
    expect((await run('describe', 'decision', 'latest')).stdout).toMatch(/^Summary: +\S/m);
    expect(parse((await run('describe', 'pool', 'rack', '-o', 'yaml')).stdout)).toMatchObject({
      name: 'rack',
    });
  });

  test('explain: a machine, a pod that waits, a decision; the host and the store say the same', async () => {
    const name = await serving();
    const machine = await run('explain', 'machine', name);
    expect([machine.code, machine.stderr]).toEqual([0, '']);
    expect(machine.stdout).toMatch(
      new RegExp(`^${name} of pool rack is ready; its power is on\\.\n  kept: `),
    );
    const [pod = ''] = (await run('get', 'pods', '-o', 'name')).stdout.trim().split('\n');
    const asked = ['explain', 'pod', pod.replace('pod/', '')];
    const told = await run(...asked, '--server', scene().host.url);
    expect(told.stdout).toMatch(/^story\/giant-\S+ waits for 64 cpu\.\n {2}m-1 +64 cpu needed/);
    expect(await onStore(...asked, '--kubeconfig', scene().world.files.kubeconfig)).toEqual(told);
    expect((await run('explain', 'decision', 'latest')).stdout).toMatch(/\(inputs \w+\)\n/);
    expect(await run('explain', 'machine', 'm-9')).toMatchObject({
      code: 1,
      stdout: 'There is no machine m-9.\n',
    });
  }, 120_000);

  test('top: by watts, the one that is on first', async () => {
    const { stdout } = await run('top');
    expect(stdout).toMatch(/^NAME +POOL +STATE +WATTS +OF +CPU +MEMORY +PODS/);
    const states = JSON.parse((await run('top', 'machines', '-o', 'json')).stdout).items;
    expect(states.map(({ state }: { state: string }) => state)).toEqual(['ready', 'off']);
    expect((await run('top', 'pools')).stdout).toMatch(/^NAME +WATTS .*\nrack +\d+ /);
  });

  test('events: the latest last; as JSON a line each; of one machine only', async () => {
    const name = await serving();
    const lines = (await run('events', '--limit', '3', name)).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toMatch(new RegExp(`  ${name}  joined: joining → ready  by join-watcher`));
    const told = (await run('events', '--json')).stdout.trimEnd().split('\n');
    expect(told.map((line) => JSON.parse(line).event)).toContain('joined');
  });

  test('events --follow and get -w go on, and end when they are told to', async () => {
    const children = [
      ['events', '--follow'],
      ['get', 'pods', '-w', '-o', 'name'],
    ].map((args) =>
      spawn(process.execPath, [scene().bamel.program, ...args], {
        env: { PATH: process.env.PATH, BAMEL_URL: scene().host.url },
      }),
    );
    const said = children.map(() => '');
    for (const [index, child] of children.entries())
      child.stdout.on('data', (text) => {
        said[index] += text;
      });
    try {
      await eventually(() => {
        expect(said[0]).toContain('joined');
        expect(said[1]).toContain('pod/story/giant-');
      }, 60_000);
      await scene().world.people.deploy('titan', 1, { cpu: '64' });
      await eventually(() => expect(said[1]).toContain('pod/story/titan-'), 60_000);
      await run('maintenance', 'm-2', 'on');
      await run('maintenance', 'm-2', 'off');
      await eventually(() => expect(said[0]).toMatch(/m-2 {2}maintenance (began|ended)/), 60_000);
    } finally {
      for (const child of children) {
        const ended = once(child, 'exit');
        child.kill('SIGINT');
        expect((await ended)[1]).toBe('SIGINT');
      }
    }
  }, 200_000);

  test.each([
    ['a kind that is none', ['get', 'machnes'], 2, /there is no kind machnes\. Did you mean machines\?/],
    ['no kind', ['get'], 2, /of what\? There are machines, pools/],
    ['an output that is none', ['get', 'm', '-o', 'jsn'], 2, /there is no output jsn\. Did you mean json\?/],
    [
      'a machine that is none',
      ['get', 'machines', 'm-11'],
      1,
      /there is no machine m-11\. Did you mean m-1\?/,
    ],
    ['what cannot be described', ['describe', 'pods', 'x'], 2, /a pod is not described/],
    ['nothing to describe', ['describe', 'machine'], 2, /which machine\?/],
    [
      'a pool that is none',
      ['describe', 'pool', 'rck'],
      1,
      /there is no pool rck\. bamel get pools lists them/,
    ],
    ['a decision that is none', ['describe', 'decision', 'd-0'], 1, /there is no decision d-0/],
    ['top of what has no watts', ['top', 'pods'], 2, /machines or pools/],
    ['a limit that is none', ['events', '--limit', 'few'], 2, /--limit few: a whole number/],
    ['a shell that is none', ['completion', 'bsh'], 2, /no completion for bsh\. Did you mean bash\?/],
    [
      'two places at once',
      ['get', 'm', '--server', 'http://x', '--store', 'embedded:'],
      2,
      /one or the other/,
    ],
    ['a server that is none', ['get', 'm', '--server', 'here'], 2, /http:\/\/HOST:PORT is one/],
    [
      'a host that is not there',
      ['get', 'm', '--server', 'http://127.0.0.1:1'],
      1,
      /does not answer at http:.*--store/,
    ],
  ] as const)('a mistake is named, with what to do: %s', async (_what, args, code, message) => {
    const ran = await run(...args);
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
  });
}
