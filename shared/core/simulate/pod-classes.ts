import type { Labels, Pod, SchedulingRules, Toleration } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';
import { byText } from '../text.ts';
import { createInterner, sortedText } from './intern.ts';
import { type Ask, noAnswers, type Tolerance, type Where } from './node-filter.ts';
import type { Company } from './pod-affinity.ts';
import type { PodKind } from './pod-class.ts';
import { type Asked, ask, askLabels, askTerms, createAsked, visible } from './visible-labels.ts';
import { type Storage, type VolumeNeed, volumeTerms } from './volumes.ts';

export interface KindsOptions {
  readonly asked: Asked;
  readonly columns: Map<string, number>;
  readonly company: Company;
  readonly storage: Storage | undefined;
}

/** Sorts pods into kinds. All pods are shown to `look` before the first kind is asked for. */
export interface Kinds {
  look(pod: Pod): Shape;
  kindOf(pod: Pod, shape?: Shape): PodKind;
  /** From here on every kind knows what counts it and what it minds. */
  seal(): void;
}

export function createKinds(options: KindsOptions): Kinds {
  const { asked, columns, company, storage } = options;
  /** Labels of pods that somebody's selector looks at. */
  const askedOfPods = createAsked();
  /** Whether pods of different namespaces can differ by that alone. */
  let namespacesMatter = false;
  const learnRules = (rules: SchedulingRules): void => {
    askTerms(asked, rules.nodeAffinity);
    askTerms(
      asked,
      rules.nodePreferences?.map(({ term }) => term),
    );
    const selecting = [
      ...(rules.podAffinity ?? []),
      ...(rules.podAntiAffinity ?? []),
      ...(rules.podPreferences ?? []).map(({ term }) => term),
      ...(rules.spread ?? []),
    ];
    for (const { selector } of selecting)
      for (const requirement of selector ?? []) ask(askedOfPods, requirement);
    if (selecting.length > 0 || rules.claims) namespacesMatter = true;
  };

  const requestsId = createInterner<Resources>(sortedText, (requests) => {
    for (const name of Object.keys(requests)) if (!columns.has(name)) columns.set(name, columns.size);
  });
  const selectorId = createInterner<Labels>(sortedText, (selector) => askLabels(asked, selector));
  const tolerationsId = createInterner<readonly Toleration[]>(JSON.stringify);
  const rulesId = createInterner<SchedulingRules>(JSON.stringify, learnRules);
  const labelsId = createInterner<Labels>((labels) => sortedText(visible(askedOfPods, labels)));

  // Pods of one template share their parts: one look-up, four at most, find the shape without looking into any of them.
  const recent = new Map<Resources, Recent>();
  const shapes = new Map<Resources, Map<Labels, Map<readonly Toleration[], Map<Pod['rules'], Shape>>>>();
  const shapesByText = new Map<string, Shape>();
  const shapeOf = (pod: Pod): Shape => {
    const { requests, nodeSelector, tolerations, rules } = pod;
    const last = recent.get(requests);
    if (last?.nodeSelector === nodeSelector && last.tolerations === tolerations && last.rules === rules)
      return last.shape;
    const shape = shapes.get(requests)?.get(nodeSelector)?.get(tolerations)?.get(rules) ?? newShape(pod);
    recent.set(requests, { nodeSelector, tolerations, rules, shape });
    return shape;
  };
  const newShape = (pod: Pod): Shape => {
    const { requests, nodeSelector, tolerations, rules } = pod;
    const rulesText = `${askKey(pod)} ${rulesId(rules)}`;
    const text = `${requestsId(requests)} ${rulesText}`;
    const shape = remember(shapesByText, text, () => ({ text, rules: rulesText, usual: new Map() }));
    const bySelector = remember(shapes, requests, () => new Map());
    const byTolerations = remember(bySelector, nodeSelector, () => new Map());
    remember(byTolerations, tolerations, () => new Map()).set(rules, shape);
    return shape;
  };
  /** Labels that nobody asks for are no difference. */
  const labelsOf = (pod: Pod): Labels | undefined => (askedOfPods.values.size > 0 ? pod.labels : undefined);
  const namespaceOf = (pod: Pod): string => (namespacesMatter ? pod.namespace : '');
  const askKey = (pod: Pod): string =>
    `${selectorId(pod.nodeSelector)} ${tolerationsId(pod.tolerations)} ${nodeAffinityId(pod.rules?.nodeAffinity)}`;
  const nodeAffinityId = createInterner<NonNullable<SchedulingRules['nodeAffinity']>>(JSON.stringify);

  const wheres = new Map<string, Where>();
  const tolerances = new Map<number, Tolerance>();
  const asks = new Map<string, Ask>();
  const askWith = (pod: Pod, volumes: VolumeNeed | undefined): Ask => {
    const whereKey = `${selectorId(pod.nodeSelector)} ${nodeAffinityId(pod.rules?.nodeAffinity)}`;
    const where = remember(wheres, whereKey, () => ({
      selector: pod.nodeSelector,
      terms: pod.rules?.nodeAffinity,
      answers: noAnswers(),
    }));
    const tolerance = remember(tolerances, tolerationsId(pod.tolerations), () => ({
      tolerations: pod.tolerations,
      answers: noAnswers(),
    }));
    if (volumes) return { where, tolerance, volumes, answers: noAnswers() };
    return remember(asks, askKey(pod), () => ({ where, tolerance, volumes, answers: noAnswers() }));
  };

  const byKey = new Map<string, PodKind>();
  const families = new Map<string, number>();
  /** The first kind of every family: the others' rules about other pods are the same. */
  const firstOf: PodKind[] = [];
  let sealed = false;

  const createKind = (pod: Pod, family: string): PodKind => {
    const claims = pod.rules?.claims;
    const need = claims && storage?.need(pod.namespace, claims);
    const volumes = need && 'bound' in need ? need : undefined;
    if (volumes) askTerms(asked, volumeTerms(volumes));
    const podAsk = askWith(pod, volumes);
    if (sealed && company.isKept(pod))
      throw new Error(
        `${pod.namespace}/${pod.name} has affinity, spread or host ports: add it to the snapshot before the world is made`,
      );
    const wanted = Object.entries({ ...pod.requests, pods: 1 })
      .filter(([, amount]) => amount > 0)
      .sort(([a], [b]) => byText(a, b));
    const number = remember(families, family, () => families.size);
    const first = firstOf[number];
    const kind: PodKind = {
      id: byKey.size,
      example: pod,
      requests: pod.requests,
      size: requestsId(pod.requests),
      family: number,
      priority: pod.priority ?? 0,
      unmodelled: [
        ...(pod.rules?.unmodelled ?? []),
        ...(claims && !storage ? ['volumes: claims, volumes and classes could not be read'] : []),
      ],
      impossible: pod.gates ? { code: 'gated', gates: pod.gates } : need && 'code' in need ? need : undefined,
      namespace: pod.namespace,
      labels: visible(askedOfPods, pod.labels ?? {}),
      columns: Int32Array.from(wanted, ([name]) => columns.get(name) ?? 0),
      amounts: Float64Array.from(wanted, ([, amount]) => amount),
      ask: podAsk,
      ...(first ? socialPart(first) : company.of(pod, podAsk, volumes?.exclusive ?? [])),
    };
    firstOf[number] ??= kind;
    if (sealed && !first) company.connect(kind);
    return kind;
  };

  const kindFor = (pod: Pod, shape: Shape): PodKind => {
    const own = `${labelsId(labelsOf(pod))} ${pod.terminating ? 't' : ''}${pod.gates ? 'g' : ''} ${namespaceOf(pod)}`;
    const key = `${shape.text} ${pod.priority ?? 0} ${own}`;
    return remember(byKey, key, () => createKind(pod, `${shape.rules} ${own}`));
  };

  return {
    look: shapeOf,
    kindOf(pod, shape = shapeOf(pod)) {
      if (pod.terminating || pod.gates) return kindFor(pod, shape);
      const labels = labelsOf(pod);
      const namespace = namespaceOf(pod);
      const { last } = shape;
      const isLast = last !== undefined && last.labels === labels && last.namespace === namespace;
      const usual = isLast ? last.kind : shape.usual.get(labels)?.get(namespace);
      if (usual && usual.priority === (pod.priority ?? 0)) {
        if (!isLast) shape.last = { labels, namespace, kind: usual };
        return usual;
      }
      const kind = kindFor(pod, shape);
      if (!usual) remember(shape.usual, labels, () => new Map()).set(namespace, kind);
      return kind;
    },
    seal() {
      for (const kind of firstOf) company.connect(kind);
      for (const kind of byKey.values()) Object.assign(kind, socialPart(firstOf[kind.family] as PodKind));
      sealed = true;
    },
  };
}

/** What of a kind is about other pods. */
const socialPart = ({ blockers, affinity, spread, wishes, feeds, spreadFeeds }: PodKind) => ({
  blockers,
  affinity,
  spread,
  wishes,
  feeds,
  spreadFeeds,
});

/** The last pod's shape of those that ask for the same. */
type Recent = Pick<Pod, 'nodeSelector' | 'tolerations' | 'rules'> & { readonly shape: Shape };

/** What a pod's template says, labels apart. */
interface Shape {
  readonly text: string;
  /** The same without what it asks for. */
  readonly rules: string;
  /** Kinds of its ordinary pods, by labels and namespace. */
  readonly usual: Map<Labels | undefined, Map<string, PodKind>>;
  /** The last of them that was asked for. */
  last?: { readonly labels: Labels | undefined; readonly namespace: string; readonly kind: PodKind };
}

function remember<Key, Value>(known: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) {
    value = create();
    known.set(key, value);
  }
  return value;
}
