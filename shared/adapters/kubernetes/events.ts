import { hostname } from 'node:os';
import type { V1MicroTime } from '@kubernetes/client-node';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Log } from '../../process/log.ts';
import { problemOf } from './errors.ts';
import type { KubeApis } from './operations.ts';

/** The longest text the API takes, in bytes. */
const longestNote = 1024;
const more = '…';

/** What Events on a kind of object stand under, as kubectl looks for them. */
const apiVersions: Readonly<Record<string, string>> = {
  Pod: 'v1',
  Node: 'v1',
  BareMetalNode: 'bamel.dev/v1alpha1',
  NodePool: 'bamel.dev/v1alpha1',
  BareMetalAutoscaler: 'bamel.dev/v1alpha1',
};

/** Records Kubernetes Events. The action is already done: an error to record it is only logged. */
export function createEventRecorder(api: KubeApis['events'], clock: Clock, log: Log): Cluster['recordEvent'] {
  let lastProblem = '';
  return async ({ kind, namespace, name, uid }, type, reason, message) => {
    try {
      await api.createNamespacedEvent({
        // Events on what is in no namespace stand in default.
        namespace: namespace ?? 'default',
        body: {
          metadata: {
            generateName: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.bamel-`,
            namespace: namespace ?? 'default',
          },
          eventTime: microTime(clock.now()),
          regarding: {
            apiVersion: apiVersions[kind] ?? 'v1',
            kind,
            name,
            ...(namespace && { namespace }),
            // kubectl finds Events on a node by its name as well.
            uid: uid ?? name,
          },
          type,
          reason,
          action: reason,
          note: shortened(message),
          reportingController: 'bamel.dev/autoscaler',
          reportingInstance: hostname().slice(0, 128) || 'bamel',
        },
      });
      lastProblem = '';
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== lastProblem)
        log.warn({ kind, name, reason, problem }, 'a Kubernetes Event was not written');
      lastProblem = problem;
    }
  };
}

/** The API takes six digits of a second, no fewer. */
const microTime = (ms: number): V1MicroTime =>
  new Date(ms).toISOString().replace('Z', '000Z') as unknown as V1MicroTime;

function shortened(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestNote) return text;
  const kept = bytes.subarray(0, longestNote - Buffer.byteLength(more)).toString();
  // The last character may have been cut in two.
  return `${kept.replace(/\uFFFD+$/, '')}${more}`;
}
