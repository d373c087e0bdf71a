import type { MachineDetail } from '../shared/view/shapes.ts';

/** What a person may do to a machine, as a call to the function that does it. */
export interface Action {
  readonly title: string;
  readonly says: string;
  /** Of the button that confirms; the title unless given. */
  readonly verb?: string;
  /** Pods may be evicted or lost: the machine's name has to be typed. */
  readonly isTyped?: boolean;
  readonly tone?: 'bad';
  readonly path: `/${string}`;
  readonly body: (machine: string) => object;
  readonly offered: (machine: MachineDetail) => boolean;
  /** A tick in the dialog adds this to the request. */
  readonly option?: { readonly says: string; readonly adds: object };
}

const by = 'the console';
const last = { says: 'even if it is the last machine that serves', adds: { last: true } };

/** Every button of a machine's page. */
export const actions: readonly Action[] = [
  {
    title: 'Power on',
    says: 'The machine is powered on and joins the cluster.',
    path: '/power-action',
    body: (machine) => ({ machine, power: 'on', by }),
    offered: ({ capacity, maintenance }) => capacity === 'none' && !maintenance,
  },
  {
    title: 'Drain and power off',
    says: 'Its pods are evicted first, as their disruption budgets allow; then it is powered off.',
    verb: 'Power off',
    isTyped: true,
    tone: 'bad',
    path: '/drain-node',
    body: (machine) => ({ machine, action: 'drain', by }),
    option: last,
    offered: ({ capacity }) => capacity === 'serving',
  },
  {
    title: 'Cancel the drain',
    says: 'Pods that are still on it stay, and its node is schedulable again.',
    verb: 'Uncordon',
    path: '/drain-node',
    body: (machine) => ({ machine, action: 'uncordon', by }),
    offered: ({ capacity, drain }) => capacity === 'leaving' && drain !== undefined,
  },
  {
    title: 'Retry now',
    says: 'Ends the quarantine. A failure that is still there quarantines it again.',
    verb: 'Retry',
    path: '/power-action',
    body: (machine) => ({ machine, lift: true, by }),
    offered: ({ retryAt }) => retryAt !== undefined,
  },
  {
    title: 'Start maintenance',
    says: 'The autoscaler does nothing to the machine until maintenance ends.',
    path: '/power-action',
    body: (machine) => ({ machine, maintenance: true, by }),
    offered: ({ maintenance, operation }) => !maintenance && operation === undefined,
  },
  {
    title: 'End maintenance',
    says: 'The autoscaler reads its state and uses it again.',
    path: '/power-action',
    body: (machine) => ({ machine, maintenance: false, by }),
    offered: ({ maintenance }) => maintenance,
  },
  {
    title: 'Cut the power',
    says: 'Powers it off at once, without a drain. Pods on it are lost, with all that they have not written.',
    verb: 'Cut the power',
    isTyped: true,
    tone: 'bad',
    path: '/power-action',
    body: (machine) => ({ machine, power: 'off', drain: false, by }),
    option: last,
    offered: ({ power, maintenance }) => power.state === 'on' && !maintenance,
  },
];
