import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { runWorkload } from './closed-loop/loop.ts';
import { byKind, examples, type Result, summary } from './closed-loop/results.ts';
import { type Stage, startStage } from './closed-loop/stage.ts';
import { createWorkload } from './closed-loop/workloads.ts';

// The same workloads every time, so that red means a change; others by BAMEL_SEED.
const seed = Number(process.env.BAMEL_SEED ?? 1);
const wanted = Number(process.env.BAMEL_WORKLOADS ?? 200);

describeWith(controlPlanePrograms, 'decisions and kube-scheduler in a loop', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage();
  }, 600_000);
  afterAll(() => stage?.close());

  test(`what a decision counts as served is bound, in ${wanted} workloads (BAMEL_SEED=${seed})`, async () => {
    const results: Result[] = [];
    for (let index = 0; index < wanted; index += 1) {
      results.push(await runWorkload(stage, createWorkload(index, seed)));
      await stage.clear();
    }
    console.log(`BAMEL_SEED=${seed}\n${summary(results)}\n${details(results)}`);
    expect(results).toHaveLength(wanted);
    expect(examples(results, ({ never }) => never)).toEqual([]);
  }, 1_800_000);
});

const details = (results: readonly Result[]): string =>
  [
    ['left unmet by the first decision', ({ unmet }: Result) => unmet] as const,
    ['waiting for a second decision', ({ late }: Result) => late] as const,
    ['waiting while the drained nodes are there', ({ drains }: Result) => drains.held] as const,
    ['waiting after drains', ({ drains }: Result) => drains.waiting] as const,
    ['still waiting after the next decision', ({ drains }: Result) => drains.still] as const,
  ]
    .map(([name, leftOf]) =>
      [`${name}: ${byKind(results.flatMap(leftOf))}`, ...examples(results, leftOf).slice(0, 8)].join('\n  '),
    )
    .join('\n');
