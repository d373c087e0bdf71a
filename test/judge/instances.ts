import { decide } from '../../shared/core/decide/decide.ts';
import { generate, type Size } from './generate/generator.ts';
import { judge } from './judge.ts';

/** What is wrong with the decision on an instance, a line per kind of finding; nothing when all is well. */
function verdictOn(family: string, seed: number, size: Size): string[] {
  const { snapshot, now } = generate(family, seed, size);
  const findings = judge(snapshot, now, decide(snapshot, now));
  return [...Map.groupBy(findings, ({ code }) => code)].map(
    ([code, found]) => `${family}, seed ${seed}: ${code} × ${found.length}, for one ${found[0]?.text}`,
  );
}

/** So many instances of a family, from a seed on. */
export const verdictsOn = (family: string, from: number, count: number, size: Size): string[] =>
  Array.from({ length: count }, (_, index) => verdictOn(family, from + index, size)).flat();
