/** Every kind of finding, and what it means. */
export const codes = {
  'place-unknown': 'pods are assigned to something that is no place',
  'place-shut': 'pods are assigned to a node that takes none, or that leaves',
  'pod-unknown': 'what is assigned is no waiting pod',
  'pod-twice': 'a pod is assigned more than once',
  'rule-impossible': 'no node can run the pod at all',
  'rule-labels': 'node selector or node affinity does not allow the place',
  'rule-taints': 'a taint of the place is not tolerated',
  'rule-cordon': 'the place is cordoned',
  'rule-volumes': 'the place does not reach a volume of the pod',
  'rule-resources': 'the place has too little room for all pods assigned to it',
  'rule-ports': 'a host port is taken',
  'rule-claim': 'a ReadWriteOncePod claim is in use',
  'rule-anti-affinity': 'anti-affinity of the pod, or of another, does not allow the place',
  'rule-affinity': 'in no order the pod finds the company that it needs',
  'rule-spread': 'in no order the pod keeps within its maxSkew',
  'power-on-ineligible': 'a machine that may not be powered on is',
  'limit-exceeded': 'more is powered on than a limit allows',
  'unserved-room': 'a pod is left over though an open node has room for it',
  'unserved-machine': 'a pod is left over though a machine could be powered on for it',
  'power-on-idle': 'a machine is powered on for nobody',
  'power-on-unneeded': 'the other nodes would do without this machine',
  'reason-false': 'the reason that is told is not true',
  'reason-unknown': 'the judge does not know this reason',
  'count-demand': 'the record counts other demand than there is',
  'count-unmet': 'assigned and unmet pods do not add up to the demand',
  'headroom-short': 'a pool lacks headroom that a machine could give',
  'minimum-short': 'a pool is below its minimum though a machine could be powered on',
  'drain-order': 'a pod of a drained machine finds no place in some order',
} as const;

export type Code = keyof typeof codes;

export interface Finding {
  readonly code: Code;
  readonly pod?: string;
  readonly machine?: string;
  readonly text: string;
}
