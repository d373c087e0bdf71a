import { groupVersionOf, type ResourceType } from './resource-types.ts';
import type { TypeTable } from './type-table.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

/** Things below an object besides /status and /scale. */
const actions: Readonly<
  Record<string, readonly { name: string; kind: string; group?: string; version?: string; verbs: string[] }[]>
> = {
  pods: [
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    { name: 'binding', kind: 'Binding', verbs: ['create'] },
    { name: 'log', kind: 'Pod', verbs: ['get'] },
  ],
};

function resourcesOf(type: ResourceType) {
  const { plural, singular, namespaced, kind } = type;
  const below = (name: string, rest: object) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...rest,
  });
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(type.shortNames ? { shortNames: type.shortNames } : {}),
      ...(type.categories ? { categories: type.categories } : {}),
    },
    ...(type.status ? [below('status', { kind, verbs: statusVerbs })] : []),
    ...(type.scale
      ? [below('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: statusVerbs })]
      : []),
    ...(type.group ? [] : (actions[plural] ?? []).map(({ name, ...rest }) => below(name, rest))),
  ];
}

function groupsOf(types: TypeTable) {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of types.all())
    if (group) versions.set(group, (versions.get(group) ?? new Set()).add(version));
  return [...versions].map(([name, all]) => {
    const list = [...all].map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: list, preferredVersion: list[0] };
  });
}

const serverVersion = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0-lab',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'lab',
};

/** What the server says about itself, or undefined when the path is about objects. */
export function discovery(types: TypeTable, path: string): object | undefined {
  const parts = path.split('/').filter(Boolean);
  if (path === '/version') return serverVersion;
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(types) };
  const [root, group = '', version] = parts;
  if (root === 'apis' && parts.length === 2) {
    const found = groupsOf(types).find(({ name }) => name === group);
    return found && { kind: 'APIGroup', apiVersion: 'v1', ...found };
  }
  const groupVersion =
    root === 'api' && parts.length === 2 ? group : parts.length === 3 ? `${group}/${version}` : '';
  if (root !== 'api' && root !== 'apis') return undefined;
  const served = [...types.all()].filter((type) => groupVersionOf(type) === groupVersion);
  if (!served.length) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: served.flatMap(resourcesOf).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
