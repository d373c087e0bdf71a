import { labelsOf } from '../knative/names.ts';

/** As the drivers have it by default: the private networks. */
const bmcNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

const ports = (protocol: string, ...numbers: readonly number[]) =>
  numbers.map((port) => ({ protocol, port }));

const policy = (name: string, app: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: labelsOf(app) },
  spec: { podSelector: { matchLabels: labelsOf(app) }, ...spec },
});

/** Namespaces of those who fetch metrics have this label. */
const mayScrape = { namespaceSelector: { matchLabels: { 'bamel.dev/scrapes-metrics': 'true' } } };

/** In: our ports. Out: names, the API server (which no selector can name), etcd, and the BMCs. */
export const networkPolicies = (app: string, port: number, healthPort: number): object[] => [
  policy('bamel-host', app, {
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: ports('TCP', port) }, { ports: ports('TCP', healthPort), from: [mayScrape] }],
    egress: [
      { ports: [...ports('UDP', 53), ...ports('TCP', 53)] },
      { ports: ports('TCP', 443, 6443) },
      { ports: ports('TCP', 2379), to: [{ podSelector: { matchLabels: labelsOf('bamel-etcd') } }] },
    ],
  }),
  policy('bamel-bmcs', app, {
    policyTypes: ['Egress'],
    egress: [{ to: bmcNetworks.map((cidr) => ({ ipBlock: { cidr } })) }],
  }),
];
