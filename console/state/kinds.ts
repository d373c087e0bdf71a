/** Which answers change when the host says that a kind of thing did. */
const dependents: Readonly<Record<string, RegExp>> = {
  machines: /^\/api\/(machines|pools|events|energy)/,
  pools: /^\/api\/pools/,
  operations: /^\/api\/(operations|machines\/)/,
  decisions: /^\/api\/(decisions|pods|pools)/,
  about: /^\/api\/about/,
};

/** What is seen of the cluster is not in the store: nobody says when it changes, so it is asked for now and then. */
const unannounced = /^\/api\/(machines|pools|pods|pressure|energy|about)/;

export const changesWith = (path: string, kinds: readonly string[] | undefined): boolean =>
  kinds === undefined || kinds.some((kind) => dependents[kind]?.test(path) ?? false);

export const changesUnannounced = (path: string): boolean => unannounced.test(path);
