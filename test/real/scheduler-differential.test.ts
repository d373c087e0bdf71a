import fc from 'fast-check';
import type { Reason, ReasonCode } from '../../shared/core/reasons/reason.ts';
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
    const refusals: Reason[] = [];
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
    const seen = Object.entries(reasons).map(([name, given]) => ({
      name,
      times: refusals.filter(given).length,
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

const with_ =
  (...codes: readonly ReasonCode[]) =>
  ({ code }: Reason): boolean =>
    codes.includes(code);

/** What was said against the target, by predicate. */
const reasons: Readonly<Record<string, (reason: Reason) => boolean>> = {
  resources: (reason) => reason.code === 'no-room' && reason.resource !== 'pods',
  'pod slots': (reason) => reason.code === 'no-room' && reason.resource === 'pods',
  taints: with_('taint-not-tolerated'),
  cordoned: with_('cordoned'),
  'node selector': with_('label-needed'),
  'node affinity': with_('node-affinity'),
  affinity: with_('pod-affinity'),
  'anti-affinity': with_('anti-affinity'),
  'others’ anti-affinity': with_('anti-affinity-of-other'),
  spread: with_('spread-skew'),
  'spread label': with_('spread-label-missing'),
  ports: with_('host-port-taken'),
  gates: with_('gated'),
  'unbound claims': with_('claim-unbound'),
  'missing claims': with_('claim-missing'),
  'missing volumes': with_('volume-missing', 'claim-lost'),
  'volume affinity': (reason) => reason.code === 'volume-affinity' && reason.terms.startsWith('zone.'),
  'volume zones': (reason) => reason.code === 'volume-affinity' && reason.terms.startsWith('topology'),
  'free volumes': with_('no-free-volume'),
  'allowed topologies': with_('claim-topology'),
  'selected node': with_('claim-elsewhere'),
  ReadWriteOncePod: with_('claim-in-use'),
};
