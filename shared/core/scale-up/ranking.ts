import { type Option, policies, type Surroundings } from './policies.ts';
import { type PolicyName, policyNames } from './policy-names.ts';

/** Options in a fixed order, each with what every policy says of it: the best is found without asking again. */
export interface Ranking {
  /** Undefined: it is no option now. */
  set(at: number, option: Option | undefined): void;
  get(at: number): Option | undefined;
  /** How many are options now. */
  readonly count: number;
  /** The best of those that are options and marked in `only`, by a list of policies; -1 when there is none. */
  best(among: Int32Array, names: readonly PolicyName[], only?: Uint8Array): number;
}

export function createRanking(size: number, surroundings: Surroundings): Ranking {
  const options: (Option | undefined)[] = new Array(size).fill(undefined);
  /** Per policy what it says of each option; not a number: nothing. */
  const scores = policyNames.map(() => new Float64Array(size));
  const remaining = new Int32Array(size);
  /** Whether a policy has ever said different things of two options. */
  const differs = new Uint8Array(policyNames.length);
  let reference = -1;
  let count = 0;

  const scoreOf = (name: PolicyName, option: Option): number => {
    const { score, ownOnly } = policies[name];
    return ownOnly && option.machine.spec.offer !== undefined ? Number.NaN : score(option, surroundings);
  };
  const settled = policyNames.map((name) => !policies[name].changing);

  return {
    get count() {
      return count;
    },
    get: (at) => options[at],
    set(at, option) {
      count += (option ? 1 : 0) - (options[at] ? 1 : 0);
      options[at] = option;
      if (!option) return;
      for (let policy = 0; policy < policyNames.length; policy++)
        if (settled[policy]) {
          const values = scores[policy] as Float64Array;
          values[at] = scoreOf(policyNames[policy] as PolicyName, option);
          if (reference >= 0 && values[at] !== values[reference]) differs[policy] = 1;
        }
      if (reference < 0) reference = at;
    },
    best(among, names, only) {
      let length = 0;
      for (let i = 0; i < among.length; i++) {
        const at = among[i] as number;
        if (options[at] !== undefined && (only === undefined || only[at] === 1)) remaining[length++] = at;
      }
      for (let i = 0; i < names.length && length > 1; i++) {
        const name = names[i] as PolicyName;
        const policy = policyNames.indexOf(name);
        if (settled[policy] && differs[policy] === 0) continue;
        const values = scores[policy] as Float64Array;
        if (!settled[policy])
          for (let r = 0; r < length; r++) {
            const at = remaining[r] as number;
            values[at] = scoreOf(name, options[at] as Option);
          }
        let lowest = Number.POSITIVE_INFINITY;
        for (let r = 0; r < length; r++) {
          const value = values[remaining[r] as number] as number;
          if (value < lowest) lowest = value;
        }
        const limit = lowest + Math.abs(lowest) * (policies[name].tolerance ?? 0);
        let kept = 0;
        for (let r = 0; r < length; r++) {
          const at = remaining[r] as number;
          if (!((values[at] as number) > limit)) remaining[kept++] = at;
        }
        length = kept;
      }
      return length > 0 ? (remaining[0] as number) : -1;
    },
  };
}
