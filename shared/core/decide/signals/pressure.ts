import type { Pod } from '../../cluster/cluster.ts';
import { type Reason, textOf } from '../../reasons/reason.ts';
import { byText } from '../../text.ts';
import { podsOf, type Situation } from '../indexed-snapshot.ts';
import { type PressingPod, type PressureCategory, type PressureReading, podName } from '../snapshot.ts';

export interface Pressure {
  readonly node: string;
  readonly category: PressureCategory;
  readonly why: Reason;
  /** Those that press and that another machine could help; empty when it is not known who presses. */
  readonly pods: readonly Pod[];
}

/** Conditions of a Node that mean pressure. */
const conditions: Readonly<Record<string, PressureCategory>> = {
  MemoryPressure: 'memory',
  DiskPressure: 'ephemeral-storage',
  PIDPressure: 'cpu',
};

/** Pods that account for more than this are the reason for it. */
const most = 0.5;

/** What nodes feel, by sensors and by their conditions; `notes` tells what no machine would help against. */
export function pressuresOf(situation: Situation): {
  readonly pressures: readonly Pressure[];
  readonly notes: readonly Reason[];
} {
  const { pressure, settings, nodes, cluster } = situation;
  const told = (pressure ?? [])
    .filter(
      ({ node, level, sign }) => nodes.has(node) && sign === 'rising' && level >= settings.pressure.threshold,
    )
    .map((reading) => judge(situation, reading));
  const shown = cluster.nodes.flatMap(({ name, pressure: held }) =>
    (held ?? []).flatMap((condition) => {
      const category = conditions[condition];
      const why: Reason = { code: 'node-condition', node: name, condition };
      return category ? [{ node: name, category, why, pods: [] }] : [];
    }),
  );
  const isHelped = (one: Pressure | Reason): one is Pressure => 'why' in one;
  return {
    pressures: [...told.filter(isHelped), ...shown].sort((a, b) => byText(textOf(a.why), textOf(b.why))),
    notes: told.flatMap((one) => (isHelped(one) ? [] : [one])).sort((a, b) => byText(textOf(a), textOf(b))),
  };
}

/** The pressure, or why no machine would help against it. */
function judge(situation: Situation, reading: PressureReading): Pressure | Reason {
  const { node, category, level, pods: pressing = [] } = reading;
  const onNode = podsOf(situation, node);
  const known = pressing.map((one) => ({ one, pod: onNode.find(({ uid }) => uid === one.uid) }));
  const named = known.map(({ one, pod }) => ({
    pod: pod ? podName(pod) : `pod ${one.uid}`,
    share: one.share,
  }));
  const why: Reason = { code: 'pressure', node, category, level, pods: named };
  const beyondHelp = known.flatMap(({ one, pod }) => {
    const reason = whyNoHelp(situation, category, one, pod);
    return reason === undefined ? [] : [{ one, reason }];
  });
  const share = beyondHelp.reduce((sum, { one }) => sum + one.share, 0);
  if (beyondHelp.length > 0 && beyondHelp.length === known.length && share >= most)
    return {
      code: 'pressure-beyond-help',
      pressure: why,
      pods: beyondHelp.map(({ reason }) => reason),
    };
  const helpless = new Set(beyondHelp.map(({ one }) => one.uid));
  return {
    node,
    category,
    why,
    pods: known.flatMap(({ pod }) => (pod && !helpless.has(pod.uid) ? [pod] : [])),
  };
}

/** Why another machine does nothing for a pod that presses. */
function whyNoHelp(
  { settings, cluster }: Situation,
  category: PressureCategory,
  { ownLimit }: PressingPod,
  pod: Pod | undefined,
): Reason | undefined {
  if (ownLimit) return { code: 'own-limit', pod: pod && podName(pod), category };
  if (!pod) return undefined;
  if (pod.belongsToNode) return { code: 'node-pod', pod: podName(pod) };
  const [volume] = settings.moveLocalStorage ? [] : (pod.localVolumes ?? []);
  if (volume === undefined) return undefined;
  const replicas = pod.owner
    ? cluster.pods.filter(({ owner, finished }) => owner?.uid === pod.owner?.uid && !finished).length
    : 1;
  return replicas > 1 ? undefined : { code: 'only-replica', pod: podName(pod), volume };
}
