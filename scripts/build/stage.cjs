// What a function is shown while it is made ready: as much of etcd and of an empty cluster as a tick asks for.

const machine = {
  pool: 'warm',
  powerInterface: 'redfish',
  mgmtAddress: 'http://127.0.0.1:1',
  redfish: { system: '/redfish/v1/Systems/1' },
  resources: { cpu: 1, memory: '1Gi' },
  watts: { idle: 1, max: 2 },
};

/** A pool with a machine, from custom resources. */
const source = { v: 1, from: 'resource', namespace: 'default', name: 'warm', uid: 'warm' };
const stored = {
  '/baremetal/global/source': source,
  '/baremetal/pools/warm/source': source,
  '/baremetal/pools/warm/config': { v: 1, name: 'warm' },
  '/baremetal/nodes/warm/source': source,
  '/baremetal/nodes/warm/spec': { v: 1, name: 'warm', ...machine },
  '/baremetal/seen/ids-warm': { v: 1, at: 0, ids: ['warm'] },
};

/** The same as custom resources. */
const ours = '/apis/bamel.dev/v1alpha1';
const specs = { baremetalautoscalers: {}, nodepools: {}, baremetalnodes: machine };
const metadata = {
  name: 'warm',
  namespace: 'default',
  uid: 'warm',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['bamel.dev/inventory'],
};

const objects = {
  ...Object.fromEntries(
    Object.entries(specs).map(([plural, spec]) => [`${ours}/${plural}`, { metadata, spec, status: {} }]),
  ),
  '/api/v1/nodes': {
    metadata: { name: 'warm', labels: {} },
    spec: { providerID: 'warm://1' },
    status: {
      allocatable: { cpu: '1', memory: '1Gi', pods: '110' },
      capacity: { cpu: '1', memory: '1Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { systemUUID: 'warm' },
    },
  },
  '/api/v1/namespaces': { metadata: { name: 'default', labels: {} } },
  '/api/v1/pods': {
    metadata: { name: 'warm', namespace: 'default', uid: 'warm' },
    spec: { nodeName: 'warm', containers: [{ name: 'warm', resources: { requests: { cpu: '10m' } } }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  },
};

/** Who sends the event, says the API server. */
const audience = 'warm';
const review = {
  authenticated: true,
  audiences: [audience],
  user: { username: 'system:serviceaccount:default:warm' },
};

const bmc = { '@odata.id': '/redfish/v1/Systems/1', PowerState: 'Off', Status: { State: 'Disabled' } };

const base64 = (text) => Buffer.from(text).toString('base64');

/** The body of an answer; undefined for one that does not end. */
function answerTo(url, body) {
  const { pathname, searchParams } = new URL(url, 'http://stage');
  if (searchParams.has('watch') || pathname === '/v3/watch') return undefined;
  if (pathname.startsWith('/redfish/')) return JSON.stringify(bmc);
  const items = objects[pathname] ? [objects[pathname]] : [];
  if (!pathname.startsWith('/v3/')) {
    const resources = pathname === ours ? Object.keys(specs).map((name) => ({ name })) : [];
    return JSON.stringify({ metadata, resources, items, status: review });
  }
  const { key, success = [] } = JSON.parse(body);
  const responses = success.map(({ request_range: range }) => ({
    response_range: range && { kvs: under(range.key) },
  }));
  return JSON.stringify({
    header: { revision: '1' },
    succeeded: true,
    ID: '1',
    result: { TTL: '10' },
    kvs: under(key),
    responses,
  });
}

const under = (key = '') =>
  Object.entries(stored)
    .filter(([name]) => name.startsWith(Buffer.from(key, 'base64').toString()))
    .map(([name, value]) => ({
      key: base64(name),
      value: base64(JSON.stringify(value)),
      mod_revision: '1',
      create_revision: '1',
    }));

const kubeconfig = (server) =>
  JSON.stringify({
    'current-context': 'warm',
    contexts: [{ name: 'warm', context: { cluster: 'warm', user: 'warm' } }],
    clusters: [{ name: 'warm', cluster: { server } }],
    users: [{ name: 'warm', user: { token: 'warm' } }],
  });

const event = {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    authorization: 'Bearer warm',
    'ce-specversion': '1.0',
    'ce-id': 'warm',
    'ce-source': '/build',
    'ce-type': 'dev.bamel.tick.due',
  },
  body: '{}',
};

module.exports = { answerTo, kubeconfig, event, audience };
