import type { MachineStatus, PowerVerb } from '../../../../shared/core/machine/machine.ts';
import { cases } from '../../../../tools/support/long.ts';
import { type ModelMachine, nameOf, type Run, type Scenario, type World } from './world.ts';

const at = (
  state: MachineStatus['state'],
  on: boolean,
  parts: Partial<MachineStatus> = {},
): MachineStatus => ({
  state,
  stateSince: -2,
  powerState: on ? 'on' : 'off',
  attempts: 0,
  ...parts,
});

const off = (): ModelMachine => ({ status: at('off', false), commands: [], on: false, ordered: false });

const ready = (m: number): ModelMachine => ({
  status: at('ready', true, { kubernetesNode: nameOf(m), nodeReady: true, bootID: '0' }),
  commands: [],
  on: true,
  node: { ready: true, cordoned: false, boot: 0 },
  ordered: true,
});

/** Drained, cordoned, its command not yet given. */
const poweringOff = (m: number): ModelMachine => ({
  ...ready(m),
  status: at('powering-off', true, {
    stateSince: 0,
    kubernetesNode: nameOf(m),
    nodeReady: true,
    bootID: '0',
    operation: 'op',
    drain: { podsLeft: 0, podsTotal: 0 },
  }),
  goal: 'off',
  node: { ready: true, cordoned: true, boot: 0 },
});

const poweringOn = (): ModelMachine => ({
  ...off(),
  status: at('powering-on', false, { stateSince: 0, operation: 'op' }),
  goal: 'on',
  ordered: true,
});

/** To be powered on while an off that an earlier operation sent has not come yet. */
const offPending = (): ModelMachine => {
  const given = poweringOn();
  const pendingOff = { verb: 'soft-off', at: 0 } as const;
  return { ...given, status: { ...given.status, pendingOff }, on: true, pending: 'soft-off' };
};

/** On, told so, and about to be too late. */
const joining = (): ModelMachine => ({
  ...off(),
  on: true,
  status: at('joining', true, { stateSince: -1, operation: 'op', bootTime: 0 }),
  goal: 'on',
  ordered: true,
});

const draining = (m: number): ModelMachine => ({
  ...ready(m),
  status: at('draining', true, {
    stateSince: 0,
    kubernetesNode: nameOf(m),
    nodeReady: true,
    bootID: '0',
    operation: 'op',
  }),
  goal: 'off',
});

const neverJoined = (): ModelMachine => ({
  ...off(),
  on: true,
  status: at('error', true, {
    attempts: 1,
    bootTime: 0,
    lastError: { code: 'never-joined', message: '', at: 0 },
  }),
});

/** Stopped just before it sends what it has written down, for so long that its lease is somebody else's. */
const stoppedSender = (verb: PowerVerb): Run => ({ fn: 'power', m: 0, at: 'send', stale: [0], verb, age: 0 });

/** Saw the node of a machine that was joining, cordoned still; since then much has happened. */
const stoppedJoiner = (): Run => ({
  fn: 'join',
  m: 0,
  at: 'prepare',
  stale: [0],
  uncordon: true,
  event: { type: 'joined', node: 'm0' },
  observed: { kubernetesNode: 'm0', nodeReady: true, bootID: '0' },
});

const world = (machines: ModelMachine[], pods: World['pods'], stopped: Run | null = null): World => ({
  machines,
  pods,
  leases: {},
  slots: [stopped, null],
});

const everyFunction: readonly Run['fn'][] = ['evaluate', 'power', 'drain', 'join', 'sweep'];

/** Narrow ones get far; the last one has everything. */
export const scenarios = {
  power: {
    name: 'workers are killed, or stopped until others have taken over',
    maxNodes: 1,
    pods: [[0]],
    starts: [
      world([off()], ['waiting']),
      world(
        [{ ...poweringOff(0), commands: [{ verb: 'soft-off', at: 0 }] }],
        ['waiting'],
        stoppedSender('soft-off'),
      ),
      world([{ ...poweringOn(), commands: [{ verb: 'on', at: 0 }] }], ['none'], stoppedSender('on')),
    ],
    functions: ['evaluate', 'power'],
    faults: ['crash', 'lease lost'],
    mostStates: cases(15_000, 12_000),
    walks: 0,
  },
  pending: {
    name: 'an off that was sent before comes late, or never',
    maxNodes: 1,
    pods: [[0]],
    starts: [world([offPending()], ['none']), world([offPending()], ['waiting'])],
    functions: ['evaluate', 'power', 'sweep'],
    faults: ['crash', 'unknown reading', 'person'],
    mostStates: cases(4_000, 1_500),
    walks: 0,
  },
  drain: {
    name: 'pods land and joiners interfere while a node is drained',
    maxNodes: 1,
    pods: [[0]],
    starts: [
      world([draining(0)], ['waiting']),
      world([{ ...draining(0), node: { ready: true, cordoned: true, boot: 0 } }], [0]),
      world([poweringOff(0)], ['waiting'], stoppedJoiner()),
    ],
    functions: ['power', 'drain', 'join'],
    faults: ['lease lost', 'eviction blocked'],
    mostStates: cases(15_000, 3_000),
    walks: 0,
  },
  limits: {
    name: 'two evaluations at once, and pods that want different machines',
    maxNodes: 1,
    pods: [[0], [0, 1]],
    starts: [world([off(), off()], ['waiting', 'none']), world([off(), off()], ['none', 'waiting'])],
    functions: ['evaluate', 'power'],
    faults: ['crash', 'lease lost', 'pods come and go'],
    mostStates: cases(15_000, 3_000),
    walks: 0,
  },
  hardware: {
    name: 'hardware and people do as they please',
    maxNodes: 1,
    pods: [[0]],
    starts: [
      { ...world([off()], ['waiting']), slots: [null] },
      { ...world([joining()], ['waiting']), slots: [null] },
      { ...world([neverJoined()], ['waiting']), slots: [null] },
    ],
    functions: everyFunction,
    faults: [
      'unknown reading',
      'command without effect',
      'eviction blocked',
      'node flaps',
      'person',
      'pods come and go',
    ],
    mostStates: cases(15_000, 6_000),
    walks: 0,
  },
  everything: {
    name: 'everything at once',
    maxNodes: 1,
    pods: [[0], [0, 1]],
    starts: [
      world([off(), off()], ['waiting', 'waiting']),
      world([ready(0), off()], ['none', 'none']),
      world([poweringOff(0), off()], ['waiting', 'waiting']),
      world([neverJoined(), ready(1)], ['none', 1]),
      world([off(), joining()], ['waiting', 'waiting']),
    ],
    functions: everyFunction,
    faults: [
      'crash',
      'lease lost',
      'unknown reading',
      'command without effect',
      'eviction blocked',
      'node flaps',
      'person',
      'pods come and go',
    ],
    mostStates: cases(10_000, 2_000),
    walks: cases(300, 15),
  },
} satisfies Record<string, Scenario>;
