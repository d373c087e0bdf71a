// Judges the decisions on many generated instances, and prints what was found by family.
// node test/judge/campaign.ts [--seeds N] [--from N] [--family F] [--max-pods P] [--max-machines M] [--show N]
import { parseArgs } from 'node:util';
import { decide } from '../../shared/core/decide/decide.ts';
import { createCase } from './case.ts';
import type { Finding } from './finding.ts';
import { families, generate } from './generate/generator.ts';
import { judge } from './judge.ts';
import { leastMachines } from './least.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    from: { type: 'string', default: '0' },
    family: { type: 'string' },
    'max-pods': { type: 'string', default: '300' },
    'max-machines': { type: 'string', default: '300' },
    show: { type: 'string', default: '0' },
  },
});
const seeds = Number(values.seeds);
const from = Number(values.from);
const size = { maxPods: Number(values['max-pods']), maxMachines: Number(values['max-machines']) };
const cpuSeconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

for (const family of values.family ? [values.family] : families) {
  const counts = new Map<Finding['code'], { instances: number; findings: number; seeds: number[] }>();
  const spent = { decide: 0, judge: 0, longest: 0 };
  const machines = { on: 0, least: 0 };
  let bad = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { snapshot, now } = generate(family, seed, size);
    const before = process.cpuUsage();
    const decision = decide(snapshot, now);
    decision.assignments();
    const decided = cpuSeconds(before);
    const between = process.cpuUsage();
    const findings = judge(snapshot, now, decision);
    const given = createCase(snapshot, now, decision);
    machines.on += given.chosen.length;
    machines.least += leastMachines(given);
    spent.decide += decided;
    spent.longest = Math.max(spent.longest, decided);
    spent.judge += cpuSeconds(between);
    if (findings.length > 0) bad += 1;
    for (const [code, found] of Map.groupBy(findings, (one) => one.code)) {
      const known = counts.get(code) ?? { instances: 0, findings: 0, seeds: [] };
      counts.set(code, {
        instances: known.instances + 1,
        findings: known.findings + found.length,
        seeds: [...known.seeds, seed],
      });
      for (const { text } of found.slice(0, Number(values.show)))
        console.log(`    ${family} ${seed} ${code}: ${text}`);
    }
  }
  console.log(
    `${family.padEnd(24)} ${bad} of ${seeds} with findings; decide ${spent.decide.toFixed(1)} s (longest ${spent.longest.toFixed(2)}), judge ${spent.judge.toFixed(1)} s; machines on ${machines.on}, at least ${machines.least} by volume`,
  );
  for (const [code, { instances, findings, seeds: where }] of counts)
    console.log(
      `    ${code.padEnd(22)} ${findings} in ${instances} instances, seeds ${where.slice(0, 8).join(' ')}`,
    );
}
