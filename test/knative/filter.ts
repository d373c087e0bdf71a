export type Filter = {
  readonly [Dialect in 'exact' | 'prefix' | 'suffix']?: Readonly<Record<string, string>>;
} & { readonly all?: readonly Filter[]; readonly any?: readonly Filter[] };

type Attributes = Readonly<Record<string, string>>;

const dialects = {
  exact: (value: string, wanted: string) => value === wanted,
  prefix: (value: string, wanted: string) => value.startsWith(wanted),
  suffix: (value: string, wanted: string) => value.endsWith(wanted),
} as const;

/** What a broker's filter does with the dialects that our triggers use; any other is an error. */
export function passes(filter: Filter, attributes: Attributes): boolean {
  return Object.entries(filter).every(([name, body]) => {
    if (name === 'all') return (body as Filter[]).every((one) => passes(one, attributes));
    if (name === 'any') return (body as Filter[]).some((one) => passes(one, attributes));
    const dialect = dialects[name as keyof typeof dialects];
    if (!dialect) throw new Error(`no trigger of ours has used ${name} so far`);
    return Object.entries(body as Attributes).every(([attribute, wanted]) =>
      dialect(attributes[attribute] ?? '', wanted),
    );
  });
}
