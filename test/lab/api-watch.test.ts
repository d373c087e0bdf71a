import { KubeConfig } from '@kubernetes/client-node';
import { type LabApi, startApi } from '../../simulator/lab/api/index.ts';
import { openWatch, send, until } from '../../tools/worlds/cluster-client.ts';
import { closing } from '../support/cleanup.ts';

const maps = '/api/v1/namespaces/default/configmaps';

function configFor(api: LabApi): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return kubeConfig;
}

test('with a token, requests without it get 401', async () => {
  const api = closing(await startApi({ token: 'open-sesame' }));
  const withToken = configFor(api);
  expect((await send(withToken, 'GET', maps)).code).toBe(200);
  const without = new KubeConfig();
  without.loadFromClusterAndUser({ name: 'lab', server: api.url, skipTLSVerify: true }, { name: 'nobody' });
  expect(await send(without, 'GET', maps)).toMatchObject({
    code: 401,
    body: { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' },
  });
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
});

test('changes that have left the history are expired, later ones are not', async () => {
  const api = closing(await startApi({ historySize: 5 }));
  const kubeConfig = configFor(api);
  const { body } = await send(kubeConfig, 'GET', maps);
  const made = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    made.push(await send(kubeConfig, 'POST', maps, { body: { metadata: { name } } }));
  const old = await openWatch(kubeConfig, maps, { resourceVersion: body.metadata.resourceVersion });
  await old.ended;
  expect(old.seen).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
  const since = made[3]?.body.metadata.resourceVersion ?? '';
  const recent = await openWatch(kubeConfig, maps, { resourceVersion: since });
  await until('three events came', async () => recent.seen.length >= 3);
  recent.stop();
  expect(recent.seen.map(({ object }) => object.metadata.name)).toEqual(['e', 'f', 'g']);
});

test('bookmarks come to those who asked and carry the latest version', async () => {
  const api = closing(await startApi({ bookmarkMs: 20 }));
  const kubeConfig = configFor(api);
  const asked = await openWatch(kubeConfig, maps, { allowWatchBookmarks: true });
  const silent = await openWatch(kubeConfig, maps);
  await send(kubeConfig, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'elsewhere' } } });
  const latest = `${api.store.version}`;
  const bookmark = await until('a bookmark of the latest version', async () =>
    asked.seen.find(({ type, object }) => type === 'BOOKMARK' && object.metadata.resourceVersion === latest),
  );
  expect(bookmark.object.kind).toBe('ConfigMap');
  expect(silent.seen).toEqual([]);
  asked.stop();
  silent.stop();
});

test('kubectl gets its rows: columns of its own kinds and those a definition asks for', async () => {
  const api = closing(await startApi());
  const rows = async (path: string) => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    const answer = await fetch(`${api.url}${path}`, { headers });
    const table = (await answer.json()) as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    const names = table.columnDefinitions.map(({ name }) => name);
    return table.rows.map(({ cells }) =>
      Object.fromEntries(cells.map((cell, index) => [names[index] ?? '', cell])),
    );
  };
  const kubeConfig = configFor(api);
  await send(kubeConfig, 'POST', '/api/v1/nodes', {
    body: {
      metadata: { name: 'n', labels: { 'node-role.kubernetes.io/control-plane': '' } },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.0' } },
    },
  });
  expect(await rows('/api/v1/nodes')).toMatchObject([
    {
      Name: 'n',
      Status: 'Ready,SchedulingDisabled',
      Roles: 'control-plane',
      Age: '0s',
      Version: 'v1.36.0',
    },
  ]);
  const columns = [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ];
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    additionalPrinterColumns: columns,
  };
  await send(kubeConfig, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: 'racks.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { kind: 'Rack', plural: 'racks' },
        versions: [version],
      },
    },
  });
  await send(kubeConfig, 'POST', '/apis/example.com/v1/racks', {
    body: {
      metadata: { name: 'r' },
      status: { state: 'ok', conditions: [{ type: 'Ready', status: 'True' }] },
    },
  });
  expect(await rows('/apis/example.com/v1/racks')).toEqual([{ Name: 'r', State: 'ok', Ready: 'True' }]);
});
