import { deployed } from '../../../apps/host/deployed.ts';
import { imageOf } from '../image.ts';
import { accountOf, brokerToken, labelsOf, restricted, settingsName } from './names.ts';
import { scaleOf } from './scale.ts';

/** Instances that nobody calls go away between two ticks. */
const window = '10s';

const probe = (path: string) => ({ httpGet: { path } });

const service = (name: string) => {
  const { concurrency, maxInstances, timeoutSeconds, memory } = scaleOf(name);
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: {
      name,
      // Reached from within the cluster only.
      labels: { ...labelsOf(name), 'networking.knative.dev/visibility': 'cluster-local' },
    },
    spec: {
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: {
            'autoscaling.knative.dev/min-scale': '0',
            // None starts before there is anything to do; takes allow-zero-initial-scale of config-autoscaler.
            'autoscaling.knative.dev/initial-scale': '0',
            'autoscaling.knative.dev/max-scale': String(maxInstances),
            'autoscaling.knative.dev/window': window,
          },
        },
        spec: {
          serviceAccountName: accountOf(name),
          containerConcurrency: concurrency,
          timeoutSeconds,
          containers: [
            {
              image: imageOf(),
              ports: [{ containerPort: 8080 }],
              env: [{ name: 'BAMEL_FUNCTION', value: name }],
              envFrom: [{ configMapRef: { name: settingsName } }],
              readinessProbe: probe('/health/readiness'),
              livenessProbe: probe('/health/liveness'),
              resources: { requests: { cpu: '50m', memory }, limits: { memory } },
              securityContext: restricted,
              volumeMounts: [brokerToken.mount],
            },
          ],
          volumes: [brokerToken.volume],
        },
      },
    },
  };
};

export const services = deployed.map(({ name }) => service(name));
