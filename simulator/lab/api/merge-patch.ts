type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

/** Lists whose items have an identity: merged item by item. Any other list is replaced as a whole. */
const identities: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  secrets: ['name'],
  drivers: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  // Of containers and of services.
  ports: ['containerPort', 'port'],
  hostAliases: ['ip'],
  podIPs: ['ip'],
  topologySpreadConstraints: ['topologyKey'],
  conditions: ['type'],
  addresses: ['type'],
  ownerReferences: ['uid'],
};
/** Lists of plain values that are sets: the patch adds to them. */
const sets = new Set(['finalizers', 'podCIDRs']);

const elementOrder = '$setElementOrder/';
const deleteFromSet = '$deleteFromPrimitiveList/';

function mergeItems(field: string, current: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const items = patch.filter(isFields);
  if (items.some((item) => item.$patch === 'replace'))
    return items.filter((item) => item.$patch !== 'replace');
  const identity = identities[field]?.find((key) => items.some((item) => item[key] !== undefined));
  if (!identity) return [...patch];
  let result = [...current];
  for (const item of items) {
    const same = (other: unknown) => isFields(other) && other[identity] === item[identity];
    const index = result.findIndex(same);
    if (item.$patch === 'delete') result = result.filter((other) => !same(other));
    else if (index < 0) result.push(applyStrategicPatch({}, item));
    else result[index] = applyStrategicPatch(result[index], item);
  }
  return result;
}

/** Puts the items named by the patch into its order, after those it does not name. */
function inOrder(field: string, list: readonly unknown[], order: readonly unknown[]): unknown[] {
  const identity = identities[field]?.find((key) =>
    order.some((item) => isFields(item) && item[key] !== undefined),
  );
  const idOf = (item: unknown) => (identity && isFields(item) ? item[identity] : item);
  const positions = new Map(order.map((item, index) => [idOf(item), index]));
  const position = (item: unknown) => positions.get(idOf(item)) ?? -1;
  return list.toSorted((a, b) => position(a) - position(b));
}

function mergeList(field: string, current: unknown, patch: unknown[]): unknown[] {
  const before = Array.isArray(current) ? current : [];
  if (sets.has(field)) return [...new Set([...before, ...patch])];
  return field in identities ? mergeItems(field, before, patch) : patch;
}

const isLabelSelector = (key: string, value: unknown) =>
  key === 'selector' && isFields(value) && ('matchLabels' in value || 'matchExpressions' in value);

/** Kubernetes' strategic merge patch, with its directives. */
export function applyStrategicPatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const { $patch: directive, $retainKeys: retained, ...changes } = patch;
  if (directive === 'delete') return {};
  const result: Fields = isFields(target) && directive !== 'replace' ? { ...target } : {};
  if (Array.isArray(retained))
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
  const orders: [string, unknown[]][] = [];
  for (const [key, value] of Object.entries(changes)) {
    const list = Array.isArray(value) ? value : undefined;
    if (key.startsWith(elementOrder)) orders.push([key.slice(elementOrder.length), list ?? []]);
    else if (key.startsWith(deleteFromSet)) {
      const field = key.slice(deleteFromSet.length);
      const current = result[field];
      if (Array.isArray(current)) result[field] = current.filter((item) => !list?.includes(item));
    } else if (value === null) delete result[key];
    else if (list) result[key] = mergeList(key, result[key], list);
    // A disruption budget's selector is replaced as a whole; those of workloads never change.
    else if (isLabelSelector(key, value)) result[key] = value;
    else result[key] = applyStrategicPatch(result[key], value);
  }
  for (const [field, order] of orders) {
    const list = result[field];
    if (Array.isArray(list)) result[field] = inOrder(field, list, order);
  }
  return result;
}
