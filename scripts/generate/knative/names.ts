export const partOf = { 'app.kubernetes.io/part-of': 'bamel' } as const;
export const labelsOf = (name: string) => ({ ...partOf, 'app.kubernetes.io/name': name });

/** As config/rbac has them. */
export const accountOf = (name: string): string => `bamel-${name}`;

export const settingsName = 'bamel-settings';
export const deadLetters = 'dead-letters';

/** Whom tokens for our functions are made out for. */
export const audience = 'bamel';

/** Without a namespace: the one that everything is applied to. */
export const brokerRef = { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'bamel' } as const;
const serviceRef = (name: string) => ({ apiVersion: 'serving.knative.dev/v1', kind: 'Service', name });

/** Where events go. A Service does not say what tokens it wants, so it is said here. */
export const destination = (name: string) => ({ ref: serviceRef(name), audience });

/** Unless a kustomization names another. */
export const namespace = 'bamel';

/**
 * Where functions send events. Declared, not bound: a SinkBinding would change every Service after it was made, which
 * starts all of them twice.
 */
export const brokerUrl = `http://broker-ingress.knative-eventing.svc.cluster.local/${namespace}/${brokerRef.name}`;

/** The token that the broker asks for, at the path where a SinkBinding would put it. */
export const brokerToken = {
  mount: { name: 'broker-token', mountPath: '/oidc', readOnly: true },
  volume: {
    name: 'broker-token',
    projected: {
      sources: [
        {
          serviceAccountToken: {
            path: 'token',
            audience: `eventing.knative.dev/broker/${namespace}/${brokerRef.name}`,
            expirationSeconds: 3600,
          },
        },
      ],
    },
  },
} as const;

export const restricted = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
} as const;
