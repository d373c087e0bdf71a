import type { Pod } from '../../cluster/cluster.ts';
import { podsOf, type Situation } from '../indexed-snapshot.ts';
import { type PressingPod, type PressureCategory, type PressureReading, podName } from '../snapshot.ts';

export interface Pressure {
  readonly node: string;
  readonly category: PressureCategory;
  readonly why: string;
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
  readonly notes: readonly string[];
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
      return category ? [{ node: name, category, why: `${name} has ${condition}`, pods: [] }] : [];
    }),
  );
  const isHelped = (one: Pressure | string): one is Pressure => typeof one !== 'string';
  return {
    pressures: [...told.filter(isHelped), ...shown].sort((a, b) => (a.why < b.why ? -1 : 1)),
    notes: told.filter((one) => typeof one === 'string').sort(),
  };
}

/** The pressure, or in words why no machine would help against it. */
function judge(situation: Situation, reading: PressureReading): Pressure | string {
  const { node, category, level, pods: pressing = [] } = reading;
  const onNode = podsOf(situation, node);
  const known = pressing.map((one) => ({ one, pod: onNode.find(({ uid }) => uid === one.uid) }));
  const named = known.map(
    ({ one, pod }) => `${pod ? podName(pod) : `pod ${one.uid}`} ${Math.round(one.share * 100)} %`,
  );
  const from = named.length > 0 ? ` (${named.join(', ')})` : '';
  const why = `${category} pressure on ${node} is rising, at ${Math.round(level * 100)} %${from}`;
  const beyondHelp = known.flatMap(({ one, pod }) => {
    const reason = whyNoHelp(situation, category, one, pod);
    return reason === undefined ? [] : [{ one, reason }];
  });
  const share = beyondHelp.reduce((sum, { one }) => sum + one.share, 0);
  if (beyondHelp.length > 0 && beyondHelp.length === known.length && share >= most)
    return `${why}: no machine would help, ${beyondHelp.map(({ reason }) => reason).join(', ')}`;
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
): string | undefined {
  if (ownLimit) return `${pod ? podName(pod) : 'a pod'} is held by its own ${category} limit`;
  if (!pod) return undefined;
  if (pod.belongsToNode) return `${podName(pod)} belongs to the node`;
  const [volume] = settings.moveLocalStorage ? [] : (pod.localVolumes ?? []);
  if (volume === undefined) return undefined;
  const replicas = pod.owner
    ? cluster.pods.filter(({ owner, finished }) => owner?.uid === pod.owner?.uid && !finished).length
    : 1;
  return replicas > 1
    ? undefined
    : `${podName(pod)} is the only one of its kind and has data on the node (volume ${volume})`;
}
