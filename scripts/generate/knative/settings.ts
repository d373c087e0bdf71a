import { audience, brokerUrl, partOf, settingsName } from './names.ts';

/** Where requests for functions come from: activator, broker, and the ingresses that Knative works with. */
const callers = ['knative-serving', 'knative-eventing', 'kourier-system', 'istio-system', 'contour-internal'];

export const settings = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: settingsName, labels: partOf },
    data: {
      K_SINK: brokerUrl,
      BAMEL_STORE: 'etcd://bamel-etcd:2379',
      BAMEL_CONFIG: 'resources:',
      BAMEL_HOST: '0.0.0.0',
      // The token that a Trigger sends is shown to the API server: it must be of an account of our namespace.
      BAMEL_TOKEN_AUDIENCE: audience,
      LOG_LEVEL: 'info',
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'bamel-callers', labels: partOf },
    spec: {
      podSelector: { matchLabels: partOf },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: {
                matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: callers }],
              },
            },
          ],
        },
      ],
    },
  },
];
