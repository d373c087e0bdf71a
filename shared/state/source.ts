/**
 * The source of a machine, a pool or the settings. Without a source it comes from the config file, and only
 * the file removes it.
 */
export type Source =
  | { readonly from: 'resource'; readonly namespace: string; readonly name: string; readonly uid: string }
  | { readonly from: 'import' };

export const describeSource = (source: Source): string =>
  source.from === 'import' ? 'bamel import' : `the resource ${source.namespace}/${source.name}`;
