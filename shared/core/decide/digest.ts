import type { Pod } from '../cluster/cluster.ts';
import type { Snapshot } from './snapshot.ts';

const primes = { high: 0x01000193, low: 0x01000197 } as const;
const seeds = { high: 0x811c9dc5 | 0, low: 0x9747b28c | 0 } as const;

/**
 * Two FNV-1a of 32 bits side by side make 64: no BigInt and no text in between, for 100,000 pods are hashed per
 * decision. Equal values give equal hashes: the order of an object's keys does not count, nor does what is undefined.
 */
class Hasher {
  high: number = seeds.high;
  low: number = seeds.low;

  begin(): this {
    this.high = seeds.high;
    this.low = seeds.low;
    return this;
  }

  number(value: number): void {
    this.high = Math.imul(this.high ^ value, primes.high);
    this.low = Math.imul(this.low ^ value, primes.low);
  }

  text(text: string): void {
    let { high, low } = this;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, primes.high);
      low = Math.imul(low ^ unit, primes.low);
    }
    this.high = high;
    this.low = low;
    // An end that no text contains, so that "ab" and "c" are not "a" and "bc".
    this.number(0x1ffff);
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.text(value);
    else if (typeof value !== 'object' || value === null) this.scalar(value);
    else if (Array.isArray(value)) {
      this.number(0x2ffff + value.length);
      for (const item of value) this.value(item);
    } else this.fields(value as Readonly<Record<string, unknown>>);
  }

  scalar(value: unknown): void {
    if (Number.isInteger(value)) {
      const whole = value as number;
      this.number(whole | 0);
      this.number(Math.floor(whole / 2 ** 32) | 0);
    } else this.text(String(value));
  }

  /** Summed up, so that nothing need be sorted. */
  fields(record: Readonly<Record<string, unknown>>): void {
    const { high, low } = this;
    let sumHigh = 0;
    let sumLow = 0;
    for (const key in record) {
      const field = record[key];
      if (field === undefined) continue;
      this.begin();
      this.text(key);
      this.value(field);
      sumHigh = (sumHigh + this.high) | 0;
      sumLow = (sumLow + this.low) | 0;
    }
    this.high = Math.imul(high ^ sumHigh, primes.high);
    this.low = Math.imul(low ^ sumLow, primes.low);
  }
}

/** 16 hex digits that stand for everything the decision could see. Lists count as sets: their order means nothing. */
export function digestOf({ machines, pools, settings, cluster, ...rest }: Snapshot, now: number): string {
  const hasher = new Hasher();
  let high = 0;
  let low = 0;
  const count = (): void => {
    high = (high + hasher.high) >>> 0;
    low = (low + hasher.low) >>> 0;
  };
  const part = (name: string, items: readonly unknown[] | undefined): void => {
    for (const item of items ?? []) {
      hasher.begin().text(name);
      hasher.value(item);
      count();
    }
  };
  const { pods, ...others } = cluster;
  part('now', [now]);
  part('settings', [settings]);
  part('ownNode', [rest.ownNode ?? '']);
  for (const { spec, status, metrics } of machines) part('machine', [{ spec, status, metrics }]);
  part('pool', pools);
  for (const [name, items] of Object.entries(others)) part(name, items);
  part('trigger', rest.triggers);
  part('alert', rest.alerts);
  part('pressure', rest.pressure);
  part('forecast', rest.forecasts);
  part('offer', rest.offers);
  part('provider', rest.providers);
  const of = digestsOf(hasher, pods);
  for (let index = 0; index < pods.length; index += 1) {
    high = (high + (of[2 * index] as number)) >>> 0;
    low = (low + (of[2 * index + 1] as number)) >>> 0;
  }
  return hex(high) + hex(low);
}

/** A pod that has not changed since the last decision is the same object, and has the same digest. */
const digests = new WeakMap<Pod, readonly [number, number]>();

/** Most pods of a list stand where they stood in the last one: they are recognised without looking them up. */
let last: { readonly pods: WeakRef<readonly Pod[]>; readonly digests: Int32Array } | undefined;

/** Two numbers per pod. */
function digestsOf(hasher: Hasher, pods: readonly Pod[]): Int32Array {
  const before = last?.pods.deref() ?? [];
  const known = last?.digests ?? new Int32Array(0);
  const result = new Int32Array(2 * pods.length);
  const shared = new Map<object, number>();
  for (const [index, pod] of pods.entries()) {
    if (before[index] === pod) {
      result[2 * index] = known[2 * index] as number;
      result[2 * index + 1] = known[2 * index + 1] as number;
      continue;
    }
    let digest = digests.get(pod);
    if (!digest) {
      hashPod(hasher, pod, shared);
      digest = [hasher.high, hasher.low];
      digests.set(pod, digest);
    }
    result.set(digest, 2 * index);
  }
  last = { pods: new WeakRef(pods), digests: result };
  return result;
}

const hex = (half: number): string => half.toString(16).padStart(8, '0');

/** Every field of a pod but its uid, in a fixed order: naming them beats sorting the keys of 100,000 objects. */
const podFields = Object.keys({
  namespace: true,
  name: true,
  node: true,
  finished: true,
  unschedulable: true,
  terminating: true,
  belongsToNode: true,
  movable: true,
  ready: true,
  requests: true,
  nodeSelector: true,
  tolerations: true,
  createdAt: true,
  labels: true,
  annotations: true,
  priority: true,
  owner: true,
  nominatedNode: true,
  gates: true,
  localVolumes: true,
  rules: true,
} satisfies Record<Exclude<keyof Pod, 'uid'>, true>) as (keyof Pod)[];

/** Objects that pods of one template share are looked into once. */
function hashPod(hasher: Hasher, pod: Pod, shared: Map<object, number>): void {
  hasher.begin();
  for (const field of podFields) {
    const value = pod[field];
    if (value === undefined || value === false) hasher.number(0);
    else if (typeof value === 'string') hasher.text(value);
    else if (typeof value !== 'object') hasher.scalar(value);
    else {
      let known = shared.get(value);
      if (known === undefined) {
        const own = new Hasher();
        own.value(value);
        known = own.high ^ own.low;
        shared.set(value, known);
      }
      hasher.number(known);
    }
  }
}
