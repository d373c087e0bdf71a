import { describeAmount } from '../cluster/resources.ts';
import { plural, seconds } from '../text.ts';

interface Claim {
  readonly claim: string;
}

interface PodFact {
  readonly pod: string;
}

interface Selected {
  readonly selector: string;
  /** The topology key whose value both have. */
  readonly within: string;
}

/** Why a pod cannot run on a place, why it must not be moved, and what its drain waits for. */
export const podTexts = {
  'no-room': ({
    resource,
    needed,
    free,
  }: {
    readonly resource: string;
    readonly needed: number;
    readonly free: number;
  }) => `${describeAmount(resource, needed)} needed, ${describeAmount(resource, free)} free`,
  'label-needed': ({ key, value }: { readonly key: string; readonly value: string }) =>
    `needs label ${key}=${value}`,
  'node-affinity': ({ terms }: { readonly terms: string }) =>
    `needs ${terms || 'labels that no node can have'}`,
  'taint-not-tolerated': ({ taint }: { readonly taint: string }) => `taint ${taint} not tolerated`,
  cordoned: () => 'is cordoned',
  'being-drained': () => 'is being drained',
  'place-not-ready': () => 'is not Ready',
  'spread-label-missing': ({ key }: { readonly key: string }) => `needs label ${key} for its topology spread`,
  'spread-skew': ({
    skew,
    key,
    maxSkew,
  }: {
    readonly skew: number;
    readonly key: string;
    readonly maxSkew: number;
  }) => `topology spread by ${key}: skew ${skew}, at most ${maxSkew} allowed`,
  'anti-affinity': ({ selector, within }: Selected) =>
    `anti-affinity to ${selector}: one is in the same ${within}`,
  'anti-affinity-of-other': ({ selector, within }: Selected) =>
    `a pod with anti-affinity to ${selector} is in the same ${within}`,
  'claim-in-use': ({ claim, within }: Claim & { readonly within: string }) =>
    `claim ${claim} is for one pod only and in use in ${within}`,
  'host-port-taken': ({
    protocol,
    port,
    within,
  }: {
    readonly protocol: string;
    readonly port: number;
    readonly within: string;
  }) => `host port ${protocol} ${port} is taken on ${within}`,
  'pod-affinity': ({ terms }: { readonly terms: readonly Selected[] }) =>
    `needs ${terms.map(({ selector, within }) => `${selector} in the same ${within}`).join(' and ')}`,
  gated: ({ gates }: { readonly gates: readonly string[] }) =>
    `is held by scheduling gate ${gates.join(', ')}`,

  'claim-missing': ({ claim }: Claim) => `claim ${claim} does not exist`,
  'claim-deleting': ({ claim }: Claim) => `claim ${claim} is being deleted`,
  'claim-lost': ({ claim }: Claim) => `the volume of claim ${claim} is gone`,
  'claim-unbound': ({ claim }: Claim) => `claim ${claim} is not bound yet`,
  'claim-topology': ({ claim, terms }: Claim & { readonly terms: string }) => `claim ${claim} needs ${terms}`,
  'claim-elsewhere': ({ claim, node }: Claim & { readonly node: string }) =>
    `claim ${claim} is being provisioned on ${node}`,
  'volume-missing': ({ claim }: Claim) => `the volume of claim ${claim} does not exist`,
  'volume-affinity': ({ volume, terms }: { readonly volume: string; readonly terms: string }) =>
    `volume ${volume} needs ${terms}`,
  'no-free-volume': ({ claim }: Claim) => `no free volume for claim ${claim}`,

  'not-safe-to-evict': ({ pod }: PodFact) => `${pod} must not be evicted (safe-to-evict: "false")`,
  'runs-to-completion': ({ pod }: PodFact) => `${pod} runs to completion (safe-to-evict: on-completion)`,
  'do-not-disrupt': ({ pod, forMs }: PodFact & { readonly forMs?: number | undefined }) =>
    `${pod} must not be disrupted${forMs === undefined ? '' : ` for another ${seconds(forMs)}`} (karpenter.sh/do-not-disrupt)`,
  'local-data': ({ pod, volume }: PodFact & { readonly volume: string }) =>
    `${pod} has data on the node (volume ${volume})`,
  'job-pod': ({ pod }: PodFact) => `${pod} belongs to a Job and would start over`,
  'other-owner': ({ pod, owner }: PodFact & { readonly owner: string }) =>
    `${pod} belongs to a ${owner}, which may not recreate it`,
  'no-controller': ({ pod }: PodFact) => `${pod} has no controller that would recreate it`,
  'system-pod': ({ pod }: PodFact) => `${pod} is a system pod without a PodDisruptionBudget`,
  'critical-pod': ({ pod }: PodFact) => `${pod} is critical and without a PodDisruptionBudget`,

  'eviction-refused': ({ pod, answer }: PodFact & { readonly answer: string }) =>
    `the eviction of ${pod}: ${answer}`,
  'pod-completing': ({ pod }: PodFact) => `${pod} to complete`,
  'pods-terminating': ({ pod, pods }: PodFact & { readonly pods: number }) =>
    pods === 1 ? `${pod} to terminate` : `${pods} ${plural(pods, 'pod')} to terminate (e.g. ${pod})`,
};
