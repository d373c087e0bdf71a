/** Which answers change when the host says that a kind of thing did. */
const dependents: Readonly<Record<string, RegExp>> = {
  machines: /^\/api\/(overview|machines|pools|events|energy)/,
  pools: /^\/api\/(overview|pools)/,
  operations: /^\/api\/(operations|machines\/)/,
  decisions: /^\/api\/(overview|decisions|pods|pools)/,
  cluster: /^\/api\/(overview|machines|pods|pools|about)/,
  about: /^\/api\/(overview|about)/,
};

/** What changes with time alone, or where no one announces it, is asked for now and then. */
const unannounced = /^\/api\/(overview|machines|pools|pods|pressure|energy|trend|about)/;

export const changesWith = (path: string, kinds: readonly string[] | undefined): boolean =>
  kinds === undefined || kinds.some((kind) => dependents[kind]?.test(path) ?? false);

export const changesUnannounced = (path: string): boolean => unannounced.test(path);
