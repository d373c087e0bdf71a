import fc from 'fast-check';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { anyCase, type Case } from './scheduler/cases.ts';
import { compare, smallest } from './scheduler/compare.ts';
import { type Judge, startJudge } from './scheduler/judge.ts';

// The same cases every time, so that red means a change; others by BAMEL_SEED.
const seed = Number(process.env.BAMEL_SEED ?? 1_293_309_099);
const wanted = Number(process.env.BAMEL_CASES ?? 2200);
const perRound = 440;

describeWith(controlPlanePrograms, 'kube-scheduler and the core', () => {
  let judge: Judge;
  beforeAll(async () => {
    judge = await startJudge();
  }, 600_000);
  afterAll(() => judge?.close());

  test(`agree on where a pod can run, in ${wanted} cases (BAMEL_SEED=${seed})`, async () => {
    const cases = fc.sample(anyCase, { seed, numRuns: wanted });
    const refusals: string[] = [];
    let fitting = 0;
    for (let at = 0; at < cases.length; at += perRound) {
      const round = cases.slice(at, at + perRound);
      for (const [index, result] of (await compare(judge, round)).entries()) {
        if (result.kind !== 'agreed')
          throw new Error(
            `BAMEL_SEED=${seed}, case ${at + index}: ${
              result.kind === 'invalid'
                ? result.why
                : await smallest(judge, cases[at + index] as Case, result)
            }`,
          );
        if (result.refusal === undefined) fitting += 1;
        else refusals.push(result.refusal);
      }
    }
    const seen = Object.entries(reasons).map(([name, text]) => ({
      name,
      times: refusals.filter((refusal) => text.test(refusal)).length,
    }));
    process.stdout.write(
      `seed ${seed}: ${fitting} fit, ${refusals.length} do not; ${seen.map(({ name, times }) => `${name} ${times}`).join(', ')}\n`,
    );
    // Both answers must be common and every reason must have been given, or not much was compared.
    expect(fitting).toBeGreaterThan(wanted / 10);
    expect(refusals.length).toBeGreaterThan(wanted / 10);
    if (wanted >= 2000) expect(seen.filter(({ times }) => times === 0)).toEqual([]);
  }, 600_000);
});

/** What was said against the target, by predicate. */
const reasons = {
  resources: /(cpu|memory|gpu|storage) wanted/,
  'pod slots': /pods wanted/,
  taints: /^taint/,
  cordoned: /^is cordoned/,
  'node selector': /^needs label (?!.* to be spread)/,
  'node affinity': /^needs (?!label).*(?<!in the same \S+)$/,
  affinity: /^needs .* in the same/,
  'anti-affinity': /^anti-affinity/,
  'others’ anti-affinity': /^a pod with anti-affinity/,
  spread: /more than elsewhere/,
  'spread label': /to be spread by/,
  ports: /^host port/,
  gates: /gate/,
  'unbound claims': /not bound yet/,
  'missing claims': /^claim .* does not exist/,
  'missing volumes': /^the volume of claim/,
  'volume affinity': /^volume \S+ needs zone\./,
  'volume zones': /^volume \S+ needs topology/,
  'free volumes': /^no free volume/,
  'allowed topologies': /^claim \S+ needs/,
  'selected node': /is being made on/,
  ReadWriteOncePod: /for one pod only/,
};
