import type { MachineDetail } from '../shared/view/shapes.ts';

/** Something that a person may ask of a machine, as a call to the function that does it. */
export interface Action {
  readonly title: string;
  readonly says: string;
  readonly tone?: 'bad';
  readonly path: `/${string}`;
  readonly body: (machine: string) => object;
  readonly offered: (machine: MachineDetail) => boolean;
  /** What may be asked for besides: a tick in the dialog adds it. */
  readonly option?: { readonly says: string; readonly adds: object };
}

const by = 'the console';
const last = { says: 'also the last one that serves', adds: { last: true } };

/** Every button of a machine's page. */
export const actions: readonly Action[] = [
  {
    title: 'Power on',
    says: 'It is powered on as if a pod needed it, and joins the cluster.',
    path: '/power-action',
    body: (machine) => ({ machine, power: 'on', by }),
    offered: ({ capacity, maintenance }) => capacity === 'none' && !maintenance,
  },
  {
    title: 'Drain and power off',
    says: 'Its pods are evicted first, as their budgets allow; then it is powered off.',
    tone: 'bad',
    path: '/drain-node',
    body: (machine) => ({ machine, action: 'drain', by }),
    option: last,
    offered: ({ capacity }) => capacity === 'serving',
  },
  {
    title: 'Call the drain off',
    says: 'What is still on it stays, and its node takes pods again.',
    path: '/drain-node',
    body: (machine) => ({ machine, action: 'uncordon', by }),
    offered: ({ capacity, drain }) => capacity === 'leaving' && drain !== undefined,
  },
  {
    title: 'Retry now',
    says: 'Its quarantine is over, as if what was wrong had been dealt with. What is still wrong quarantines it again.',
    path: '/power-action',
    body: (machine) => ({ machine, lift: true, by }),
    offered: ({ retryAt }) => retryAt !== undefined,
  },
  {
    title: 'Take into maintenance',
    says: 'It is in your hands then: nothing is done to it until you give it back.',
    path: '/power-action',
    body: (machine) => ({ machine, maintenance: true, by }),
    offered: ({ maintenance, operation }) => !maintenance && operation === undefined,
  },
  {
    title: 'Give back from maintenance',
    says: 'It is looked at again, and used as demand has it.',
    path: '/power-action',
    body: (machine) => ({ machine, maintenance: false, by }),
    offered: ({ maintenance }) => maintenance,
  },
  {
    title: 'Cut the power',
    says: 'At once, whatever runs on it: pods on it are lost, and so is what they have not written.',
    tone: 'bad',
    path: '/power-action',
    body: (machine) => ({ machine, power: 'off', drain: false, by }),
    option: last,
    offered: ({ power, maintenance }) => power.state === 'on' && !maintenance,
  },
];
