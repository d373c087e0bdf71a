import { z } from 'zod';

/** What a kubelet reads of a pod. */
export const Pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
    deletionGracePeriodSeconds: z.number().optional(),
  }),
  spec: z.object({
    nodeName: z.string().optional(),
    restartPolicy: z.string().default('Always'),
    containers: z.array(
      z.object({
        name: z.string(),
        image: z.string().default(''),
        resources: z
          .object({ requests: z.record(z.string(), z.union([z.string(), z.number()])).optional() })
          .optional(),
      }),
    ),
  }),
  status: z
    .object({
      phase: z.string().default('Pending'),
      startTime: z.string().optional(),
      podIP: z.string().optional(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
      containerStatuses: z.array(z.object({ restartCount: z.number().default(0) })).optional(),
    })
    .default({ phase: 'Pending' }),
});
export type Pod = z.infer<typeof Pod>;

/** Seconds a pod that ends by itself runs before it succeeds. */
const runForAnnotation = 'lab.bamel.dev/run-for';
/** Milliseconds a pod takes to stop; never longer than its grace period. */
const stopTakesAnnotation = 'lab.bamel.dev/stop-takes';

const startTakes = 500;
const defaultRunFor = 2;
const defaultStopTakes = 100;

export type Step = { do: 'start' | 'restart' | 'succeed' | 'fail' | 'remove'; afterMs: number };

/** What its kubelet does next with a pod; `interrupted` means the machine went dark while it ran. */
export function nextStep(pod: Pod, interrupted: boolean): Step | undefined {
  const { metadata, spec, status } = pod;
  if (metadata.deletionTimestamp !== undefined) {
    const takes = numberIn(metadata.annotations?.[stopTakesAnnotation], defaultStopTakes);
    const grace = (metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    return { do: 'remove', afterMs: Math.min(takes, grace) };
  }
  if (status.phase === 'Pending') return { do: 'start', afterMs: startTakes };
  if (status.phase !== 'Running') return undefined;
  if (interrupted && spec.restartPolicy === 'Never') return { do: 'fail', afterMs: 0 };
  if (interrupted) return { do: 'restart', afterMs: startTakes };
  if (!isReady(pod)) return { do: 'start', afterMs: 0 };
  if (spec.restartPolicy === 'Always') return undefined;
  const seconds = numberIn(metadata.annotations?.[runForAnnotation], defaultRunFor);
  return { do: 'succeed', afterMs: seconds * 1000 };
}

const isReady = ({ status }: Pod) =>
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

function numberIn(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise);
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/** The status that says a step has been done. */
export function statusAfter(step: Step['do'], pod: Pod, hostIP: string, podIP: string, now: string) {
  const running = step === 'start' || step === 'restart';
  const restarts = (pod.status.containerStatuses?.[0]?.restartCount ?? 0) + (step === 'restart' ? 1 : 0);
  const condition = (type: string, yes: boolean, reason?: string) => ({
    type,
    status: yes ? 'True' : 'False',
    lastTransitionTime: now,
    ...(reason && { reason }),
  });
  const ended = running ? undefined : step === 'succeed' ? 'PodCompleted' : 'PodFailed';
  const exit =
    step === 'succeed' ? { exitCode: 0, reason: 'Completed' } : { exitCode: 137, reason: 'NodeRestarted' };
  return {
    phase: running ? 'Running' : step === 'succeed' ? 'Succeeded' : 'Failed',
    hostIP,
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: pod.status.startTime ?? now,
    conditions: [
      condition('Initialized', true),
      condition('ContainersReady', running, ended),
      condition('Ready', running, ended),
    ],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      containerID: `lab://${pod.metadata.uid}/${name}`,
      restartCount: restarts,
      ready: running,
      started: running,
      state: running
        ? { running: { startedAt: now } }
        : { terminated: { ...exit, startedAt: pod.status.startTime ?? now, finishedAt: now } },
    })),
  };
}
