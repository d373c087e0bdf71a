import { randomUUID } from 'node:crypto';
import { type Clock, timerGroup } from './clock.ts';
import { identityOf, MachineDescription, type MachineInput } from './description.ts';
import { FaultSet } from './fault-set.ts';
import { type ResetAnswer, type ResetType, resets } from './reset.ts';

export type Phase = 'off' | 'powering-on' | 'booting' | 'booted' | 'shutting-down';
export type PowerState = 'Off' | 'PoweringOn' | 'On' | 'PoweringOff';

interface PhaseRow {
  powerState: PowerState;
  bootProgress: string;
  /** Seconds until `next`; a phase without them stays. */
  seconds?: (description: MachineDescription) => number;
  next?: Phase;
}

export const phases: Readonly<Record<Phase, PhaseRow>> = {
  off: { powerState: 'Off', bootProgress: 'None' },
  'powering-on': {
    powerState: 'PoweringOn',
    bootProgress: 'PrimaryProcessorInitializationStarted',
    seconds: (d) => d.powerOnSeconds,
    next: 'booting',
  },
  booting: { powerState: 'On', bootProgress: 'OSBootStarted', seconds: (d) => d.bootSeconds, next: 'booted' },
  booted: { powerState: 'On', bootProgress: 'OSRunning' },
  'shutting-down': {
    powerState: 'PoweringOff',
    bootProgress: 'OSRunning',
    seconds: (d) => d.shutdownSeconds,
    next: 'off',
  },
};

export interface MachineHooks {
  onBooted?(machine: SimulatedMachine): void;
  /** The operating system began to stop; it still runs until onHalted. */
  onShuttingDown?(machine: SimulatedMachine): void;
  /** A running operating system is gone, in good order or not. */
  onHalted?(machine: SimulatedMachine): void;
  /** 0 (idle) to 1. */
  load?(machine: SimulatedMachine): number;
}

export interface Command {
  at: number;
  verb: string;
  accepted: boolean;
}

export interface BootOverride {
  BootSourceOverrideTarget: string;
  BootSourceOverrideEnabled: string;
  BootSourceOverrideMode: string;
}

const commandsKept = 200;
const noOverride: BootOverride = {
  BootSourceOverrideTarget: 'None',
  BootSourceOverrideEnabled: 'Disabled',
  BootSourceOverrideMode: 'UEFI',
};

/** One server: its power, its operating system's life, what was asked of it and what is wrong with it. */
export class SimulatedMachine {
  readonly description: MachineDescription;
  readonly identity: ReturnType<typeof identityOf>;
  readonly faults = new FaultSet(() => this.#faultsChanged());
  readonly clock: Clock;
  readonly commands: Command[] = [];
  bootOverride: BootOverride = noOverride;
  /** What the last boot started from: Hdd, or the override then set. */
  bootedFrom = 'None';
  bootId: string | undefined;
  phase: Phase = 'off';
  phaseSince: number;

  readonly #hooks: MachineHooks;
  readonly #timers: ReturnType<typeof timerGroup>;
  #cancelPhase = () => {};
  #held = false;
  #running = false;
  #afterHalt: Phase = 'off';
  #softOffWaiting = false;

  constructor(input: MachineInput, clock: Clock, hooks: MachineHooks = {}) {
    this.description = MachineDescription.parse(input);
    this.identity = identityOf(this.description);
    this.clock = clock;
    this.phaseSince = clock.now();
    this.#hooks = hooks;
    this.#timers = timerGroup(clock);
  }

  get name(): string {
    return this.description.name;
  }

  get powerState(): PowerState {
    return phases[this.phase].powerState;
  }

  /** What the BMC was told. A machine that is already there, or busy getting there, takes it and does nothing. */
  reset(type: ResetType): ResetAnswer {
    const answer = this.#faultAnswer(type) ?? { kind: 'done' };
    this.record(type, answer.kind !== 'refused');
    if (answer.kind === 'done') resets[type](this);
    if (answer.kind === 'task' && answer.ends === 'Completed')
      this.#timers.after(answer.ms, () => resets[type](this));
    return answer;
  }

  /** A person at the machine: a press, or holding the button until it is dark. */
  pressButton(press: 'on' | 'off'): void {
    this.record(`button-${press}`, true);
    if (press === 'on') this.powerOn();
    else this.cutPower();
  }

  /** For a machine that runs when the lab starts. */
  startBooted(): void {
    this.#enter('booted');
  }

  powerOn(): void {
    if (this.phase === 'off') this.#enter('powering-on');
  }

  cutPower(next: Phase = 'off'): void {
    if (this.phase === 'off') return;
    this.#halted();
    this.#afterHalt = next;
    this.#enter('shutting-down', 0);
  }

  /** Before the operating system runs there is nobody to ask: the request waits and stops it once it is up. */
  askToStop(next: Phase = 'off'): void {
    if (this.phase === 'powering-on' || this.phase === 'booting') this.#softOffWaiting = true;
    if (this.phase !== 'booted') return;
    this.#afterHalt = next;
    this.#enter('shutting-down');
    this.#hooks.onShuttingDown?.(this);
  }

  /** In lab time, and gone with the machine. */
  later(ms: number, what: () => void): void {
    this.#timers.after(ms, what);
  }

  record(verb: string, accepted: boolean): void {
    this.commands.push({ at: this.clock.now(), verb, accepted });
    if (this.commands.length > commandsKept) this.commands.shift();
  }

  watts(): number {
    const { idle, max, standby } = this.description.watts;
    if (this.phase === 'off') return standby;
    if (this.phase !== 'booted') return idle;
    const load = Math.min(1, Math.max(0, this.#hooks.load?.(this) ?? 0));
    return Math.round(idle + (max - idle) * load);
  }

  /** Ends its timers; no hook is called any more. */
  stop(): void {
    this.#timers.cancelAll();
  }

  #faultAnswer(type: ResetType): ResetAnswer | undefined {
    for (const { effect, used } of this.faults.having('reset')) {
      const answer = effect(this, type);
      if (!answer) continue;
      used();
      return answer;
    }
    return undefined;
  }

  #enter(phase: Phase, ms?: number): void {
    this.#cancelPhase();
    this.#held = false;
    this.phase = phase;
    this.phaseSince = this.clock.now();
    if (phase === 'booting') this.#startFirmware();
    if (phase === 'booted') this.#operatingSystemUp();
    // A hook or a waiting soft-off may have moved the machine on already.
    if (this.phase === phase) this.#armNext(ms);
  }

  #armNext(ms?: number): void {
    const { seconds, next } = phases[this.phase];
    if (!seconds || !next) return;
    let factor = 1;
    for (const { effect, used } of this.faults.having('pace')) {
      const own = effect[this.phase];
      if (own === undefined) continue;
      factor *= own;
      used();
    }
    const duration = (ms ?? seconds(this.description) * 1000) * factor;
    this.#held = factor === Number.POSITIVE_INFINITY;
    if (this.#held) return;
    if (duration === 0) this.#phaseEnded(next);
    else this.#cancelPhase = this.#timers.after(duration, () => this.#phaseEnded(next));
  }

  #phaseEnded(next: Phase): void {
    const then = this.phase === 'shutting-down' ? this.#afterHalt : next;
    if (this.phase === 'shutting-down') this.#halted();
    this.#afterHalt = 'off';
    this.#enter(then);
  }

  #startFirmware(): void {
    const { BootSourceOverrideEnabled: enabled, BootSourceOverrideTarget: target } = this.bootOverride;
    this.bootedFrom = enabled === 'Disabled' ? 'Hdd' : target;
    if (enabled === 'Once') this.bootOverride = noOverride;
  }

  #operatingSystemUp(): void {
    this.#running = true;
    this.bootId = randomUUID();
    this.#hooks.onBooted?.(this);
    if (!this.#softOffWaiting) return;
    this.#softOffWaiting = false;
    this.askToStop();
  }

  #halted(): void {
    this.#softOffWaiting = false;
    if (!this.#running) return;
    this.#running = false;
    this.#hooks.onHalted?.(this);
  }

  /** A phase that a fault held up goes on once the fault is gone. */
  #faultsChanged(): void {
    if (this.#held) this.#armNext();
  }
}
