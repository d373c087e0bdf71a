import { deployed } from '../../apps/host/deployed.ts';
import { type Permissions, permissions, remotePermissions } from '../../functions/permissions.ts';
import { hostPermissions, rulesOf } from '../../scripts/generate/install/rbac.ts';

const names = deployed.map(({ name }) => name);
const allowed = (given: Permissions | undefined): string[] => {
  const { clusterWide, ownNamespace } = rulesOf(given ?? { watches: [], clusterWide: [], ownNamespace: [] });
  return [...clusterWide, ...ownNamespace].flatMap(({ apiGroups, resources, verbs }) =>
    verbs.map((verb) => `${verb} ${apiGroups}/${resources}`),
  );
};
const whoMay = (what: RegExp): string[] =>
  names.filter((name) => allowed(permissions[name]).some((line) => what.test(line)));

test('every function says what it may do in the cluster', () => {
  expect(Object.keys(permissions).sort()).toEqual([...names].sort());
});

test.each([
  ['evict pods', /pods\/eviction$/, ['drain-node']],
  ['read Secrets', / \/secrets$/, ['power-action', 'discovery']],
  ['make Jobs', /^create batch\//, ['power-action']],
  ['change our resources', / bamel\.dev\//, ['sync-inventory']],
  ['remove nodes or pods', /^delete \//, ['join-watcher']],
  ['change nodes', /^patch \/nodes$/, ['join-watcher', 'drain-node']],
])('who may %s', (_, what, who) => {
  expect(whoMay(what)).toEqual(who);
});

test('the console may look, and change nothing', () => {
  expect(allowed(permissions.console).filter((line) => !/^(list|watch) /.test(line))).toEqual([
    'create authentication.k8s.io/tokenreviews',
  ]);
});

test('nobody may do everything, list Secrets, or touch what gives rights', () => {
  for (const name of names)
    for (const line of allowed(permissions[name]))
      expect(line).not.toMatch(
        /\*|^(list|watch) \/secrets|rbac\.|serviceaccounts|^(escalate|bind|impersonate) |exec|nodes\/proxy/,
      );
});

test('the host may do what its functions may, and nothing else', () => {
  const union = new Set(names.flatMap((name) => allowed(permissions[name])));
  expect(new Set(allowed(hostPermissions))).toEqual(union);
});

test('borrowing and lending read and delete only the Secrets that are named, and list none', () => {
  const rules = Object.values(remotePermissions).flatMap(({ clusterWide, inLiqo }) => [
    ...clusterWide,
    ...inLiqo,
  ]);
  const secrets = rules.filter(({ resources }) => resources.includes('secrets'));
  expect(secrets.map(({ verbs, names }) => [verbs.join(' '), names])).toEqual([
    ['get', ['authentication-keys']],
    ['create', undefined],
    ['get delete', ['liqo-nonce']],
  ]);
  for (const { verbs, apiGroup } of rules) {
    expect(verbs).not.toContain('*');
    expect(apiGroup).not.toMatch(/rbac|certificates/);
  }
});
