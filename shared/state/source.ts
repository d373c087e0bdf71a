/** Who describes a machine, a pool or the settings. What has no source is from the file, which alone removes it. */
export type Source =
  | { readonly from: 'resource'; readonly namespace: string; readonly name: string; readonly uid: string }
  | { readonly from: 'import' };

export const describeSource = (source: Source): string =>
  source.from === 'import' ? 'bamel import' : `the resource ${source.namespace}/${source.name}`;
