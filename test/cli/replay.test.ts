import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { newFolder } from '../support/cleanup.ts';

let folder = '';
let file = '';

/** Two weeks of ten-minute rows: 12 machines from 8 to 18 o'clock, 2 or 3 otherwise, of 20. */
beforeAll(async () => {
  folder = newFolder();
  file = join(folder, 'demand.csv');
  const rows = Array.from({ length: 14 * 144 }, (_, step) => {
    const hour = Math.floor(step / 6) % 24;
    const at = new Date(Date.UTC(2024, 0, 1) + step * 600_000).toISOString();
    return `${at},${hour >= 8 && hour < 18 ? 12 : 2 + (step % 2)},20`;
  });
  await writeFile(file, `time,active,total\n${rows.join('\n')}\n`);
});

const replayOf = (path: string, args: readonly string[]) => run('--demand', path, ...args);

async function run(...args: readonly string[]) {
  const io = { stdout: new PassThrough(), stderr: new PassThrough(), env: {} };
  const code = await runCli(['replay', ...args], io);
  const text = (stream: PassThrough): string => String(stream.read() ?? '');
  return { code, stdout: text(io.stdout), stderr: text(io.stderr) };
}

const replay = (...args: readonly string[]) => replayOf(file, args);

interface Printed {
  readonly steps: number;
  readonly rows: readonly {
    readonly policy: string;
    readonly machinesOff: number;
    readonly shortSteps: number;
    readonly kWh?: number;
    readonly cost?: number;
    readonly on: readonly number[];
  }[];
}

test('every policy beside the others, counted from the date on', async () => {
  const { code, stdout } = await replay(
    '--train-until',
    '2024-01-08',
    '-o',
    'json',
    '--watts',
    '100:200',
    '--price',
    '0.25',
  );
  expect(code).toBe(0);
  const { rows, steps } = JSON.parse(stdout) as Printed;
  expect(steps).toBe(7 * 144);
  const of = (name: string) => rows.find(({ policy }) => policy === name);
  expect(of('everything on')).toMatchObject({ machinesOff: 0, shortSteps: 0 });
  expect(of('oracle')?.shortSteps).toBe(0);
  expect(of('forecast 99 %')?.shortSteps).toBeLessThan(of('reactive')?.shortSteps ?? 0);
  expect(of('forecast')?.shortSteps).toBeLessThanOrEqual(of('reactive')?.shortSteps ?? 0);
  for (const { on, kWh = 0, cost = 0 } of rows) {
    expect(on).toHaveLength(steps);
    expect(Math.max(...on)).toBeLessThanOrEqual(20);
    expect(cost).toBeCloseTo(kWh / 4, 1);
  }
});

test('the same bytes twice, as table and as picture', async () => {
  for (const output of ['table', 'html']) {
    const [first, second] = [await replay('-o', output), await replay('-o', output)];
    expect(first.code).toBe(0);
    expect(first.stdout).toContain('MACHINES OFF');
    expect(second.stdout).toBe(first.stdout);
  }
  expect((await replay('-o', 'svg')).stdout).toMatch(/^<svg [\s\S]*<polyline [\s\S]*<\/svg>\n$/);
});

test.each([
  [['--machines', 'many'], '--machines many: write a number'],
  [['--machines', '2.5'], 'whole number'],
  [['--step', '10'], '--step 10: not a duration'],
  [['--train-until', 'soon'], '--train-until: time is "soon"'],
  [['--train-until', '2030-01-01'], 'the history goes from 2024-01-01T00:00'],
  [['--confidence', '2'], '--confidence 2: write a number from 0.5 to 0.999'],
  [['--watts', '300:100'], '--watts 300:100: write IDLE:MAX'],
  [['--price', '0.3'], '--price needs --watts'],
  [['-o', 'xml'], 'there is no output xml'],
])('%j is refused, and it says why', async (args, why) => {
  const { code, stderr, stdout } = await replay(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(why);
});

test('a file that is no history is refused with its line', async () => {
  const broken = join(folder, 'broken.csv');
  await writeFile(broken, 'time,active\n2024-01-01,1\n2024-01-02,lots\n');
  const { code, stderr } = await replayOf(broken, []);
  expect(code).toBe(2);
  expect(stderr).toContain('line 3: active is "lots"');
});

describe('pods', () => {
  const written = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  const nodes = () => written('nodes.csv', 'cpu,memory,gpu,count\n8,34359738368,0,4\n');

  test('go through the decisions: who waited, and for how long', async () => {
    // Two that fit on one machine, and a third an hour later when nothing is on any more.
    const pods = await written(
      'pods.csv',
      'start,end,cpu,memory\n0,1200,2,1073741824\n60,1200,2,1073741824\n6000,7200,8,1073741824\n',
    );
    const args = ['--pods', pods, '--nodes', await nodes(), '-o', 'json', '--boot', '4m'];
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    const { rows } = JSON.parse(stdout) as { rows: Record<string, unknown>[] };
    expect(rows[1]).toMatchObject({
      policy: 'reactive',
      podsThatWaited: 3,
      waitP50Seconds: 240,
      neverPlaced: 0,
    });
    expect((await run(...args)).stdout).toBe(stdout);
  });

  test('names of the openb trace are understood: parts of a GPU, thousandths of a cpu', async () => {
    const pods = await written(
      'openb.csv',
      'name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\na,1000,64,1,500,0,900\nb,1000,64,1,500,0,900\n',
    );
    const machines = await written(
      'openb-nodes.csv',
      'sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,1,\n',
    );
    const { stdout } = await run('--pods', pods, '--nodes', machines);
    expect(stdout).toContain('2 pods on 1 machines');
    expect(stdout).toMatch(/reactive +[\d.]+ +[\d.]+ +2 +300s +300s +0/);
  });

  test.each([
    ['start,cpu\n0,1\n', 'there is no column end'],
    ['start,end,cpu\n0,9,much\n', 'line 2: cpu is "much"'],
    ['start,end,cpu\n', 'the file has no rows'],
  ])('%j is refused, and it says why', async (text, why) => {
    const { code, stderr } = await run('--pods', await written('bad.csv', text), '--nodes', await nodes());
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });
});
