import type { MachineStatus } from '../../../../shared/core/machine.ts';
import { type Fault, type ModelMachine, nameOf, type Run, type Scenario, type World } from './world.ts';

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

const neverJoined = (): ModelMachine => ({
  ...off(),
  on: true,
  status: at('error', true, { attempts: 1, lastError: { code: 'never-joined', message: '', at: 0 } }),
});

const world = (machines: ModelMachine[], pods: World['pods']): World => ({
  machines,
  pods,
  leases: {},
  slots: [null, null],
});

const everyFunction: readonly Run['fn'][] = ['evaluate', 'power', 'drain', 'join', 'sweep'];
const hardware: readonly Fault[] = ['unknown reading', 'command without effect', 'eviction blocked'];
const processes: readonly Fault[] = ['crash', 'lease lost'];

export const scenarios = {
  /** One machine through all its life, functions killed and stopped for as long as it takes to be replaced. */
  processes: {
    name: 'processes are killed and replaced',
    maxNodes: 1,
    pods: [[0]],
    starts: [
      world([off()], ['waiting']),
      world([ready(0)], ['none']),
      world([poweringOn()], ['waiting']),
      world([poweringOff(0)], ['none']),
      world([poweringOff(0)], ['waiting']),
      world([neverJoined()], ['none']),
    ],
    functions: everyFunction,
    faults: [...processes, 'pods come and go'],
    mostStates: 30_000,
    walks: 300,
  },
  /** The same with hardware that lies, and people. */
  hardware: {
    name: 'hardware and people do as they please',
    maxNodes: 1,
    pods: [[0]],
    starts: [
      world([off()], ['waiting']),
      world([ready(0)], [0]),
      world([poweringOff(0)], ['none']),
      world([neverJoined()], ['waiting']),
    ],
    functions: everyFunction,
    faults: [...hardware, 'crash', 'node flaps', 'person', 'pods come and go'],
    mostStates: 30_000,
    walks: 300,
  },
  /** Two machines, of which one may be on, and pods that want different ones. */
  limits: {
    name: 'two machines, one allowed, two evaluations at once',
    maxNodes: 1,
    pods: [[0], [0, 1]],
    starts: [
      world([off(), off()], ['waiting', 'none']),
      world([off(), off()], ['none', 'waiting']),
      world([ready(0), off()], ['none', 'none']),
    ],
    functions: everyFunction,
    faults: [...processes, 'pods come and go'],
    mostStates: 30_000,
    walks: 300,
  },
} satisfies Record<string, Scenario>;
