import { type Deployed, deployed } from '../../../apps/host/deployed.ts';
import { imageOf } from '../image.ts';
import { accountOf, audience } from './names.ts';
import { scaleOf } from './scale.ts';

/** For `func deploy` in dist/. Its subscriptions know equality only, so the triggers are applied apart. */
const project = ({ name, forPeople }: Deployed) => {
  const { concurrency, maxInstances, memory } = scaleOf(name);
  return {
    specVersion: '0.36.0',
    name,
    runtime: 'node',
    image: imageOf(),
    created: '2026-11-16T00:00:00Z',
    invoke: forPeople ? 'http' : 'cloudevent',
    build: { builder: 'pack' },
    run: {
      envs: [
        { name: 'BAMEL_FUNCTION', value: name },
        { name: 'BAMEL_HOST', value: '0.0.0.0' },
        { name: 'BAMEL_TOKEN_AUDIENCE', value: audience },
        // Every key of this ConfigMap.
        { value: '{{ configMap:bamel-settings }}' },
      ],
    },
    deploy: {
      serviceAccountName: accountOf(name),
      annotations: { 'autoscaling.knative.dev/window': '10s' },
      labels: [{ key: 'app.kubernetes.io/part-of', value: 'bamel' }],
      healthEndpoints: { liveness: '/health/liveness', readiness: '/health/readiness' },
      options: {
        scale: { min: 0, max: maxInstances },
        resources: { requests: { cpu: '50m', memory }, limits: { memory, concurrency } },
      },
    },
  };
};

export const funcProjects = deployed.map((one) => ({ name: one.name, project: project(one) }));
