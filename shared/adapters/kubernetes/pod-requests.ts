import type { V1Container, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { add, fromQuantities, larger, type Resources } from '../../core/cluster/resources.ts';

/**
 * As kube-scheduler counts: containers and sidecars together, or the largest init container with the sidecars
 * before it, unless something is asked for the pod as a whole; and what the runtime takes.
 */
export function podRequests({ spec, status }: V1Pod): Resources {
  // A pod that is being resized needs what it has and what it is to get; what cannot be given is not waited for.
  const refused = (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const actual = new Map(
    [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].map((one) => [
      one.name,
      one,
    ]),
  );
  const requestsOf = (container: V1Container): Resources =>
    withActual(fromQuantities(container.resources?.requests), actual.get(container.name), refused);

  let sidecars: Resources = {};
  let starting: Resources = {};
  for (const container of spec?.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    const wanted = isSidecar ? requestsOf(container) : fromQuantities(container.resources?.requests);
    starting = larger(starting, add(sidecars, wanted));
    if (isSidecar) sidecars = add(sidecars, wanted);
  }
  const running = (spec?.containers ?? []).map(requestsOf).reduce(add, sidecars);
  const wanted = { ...larger(running, starting), ...fromQuantities(spec?.resources?.requests) };
  return add(wanted, fromQuantities(spec?.overhead));
}

function withActual(wanted: Resources, status: V1ContainerStatus | undefined, refused: boolean): Resources {
  if (!status?.resources) return wanted;
  const has = larger(fromQuantities(status.resources.requests), fromQuantities(status.allocatedResources));
  return refused ? has : larger(wanted, has);
}
