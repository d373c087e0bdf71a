import { functionTable } from '../../functions/index.ts';
import { type Permissions, permissions } from '../../functions/permissions.ts';
import { hostPermissions, rulesOf } from '../../scripts/generate/install/rbac.ts';

const names = functionTable.map(({ definition }) => definition.name);
const allowed = (given: Permissions | undefined): string[] => {
  const { everywhere, atHome } = rulesOf(given ?? { sees: [], everywhere: [], atHome: [] });
  return [...everywhere, ...atHome].flatMap(({ apiGroups, resources, verbs }) =>
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
  ['read Secrets', / \/secrets$/, ['power-action']],
  ['make Jobs', /^create batch\//, ['power-action']],
  ['change our resources', / bamel\.dev\//, ['sync-inventory']],
  ['remove nodes or pods', /^delete \//, ['join-watcher']],
  ['change nodes', /^patch \/nodes$/, ['join-watcher', 'drain-node']],
])('who may %s', (_, what, who) => {
  expect(whoMay(what)).toEqual(who);
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
