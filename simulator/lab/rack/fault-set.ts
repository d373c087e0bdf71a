import { z } from 'zod';
import type { Effects } from './fault.ts';
import { type FaultName, faults } from './faults.ts';

/** `times`: how often it acts before it is gone by itself; without it, until cleared. Other fields are the fault's own. */
export const FaultRequest = z.looseObject({
  fault: z.enum(Object.keys(faults) as [FaultName, ...FaultName[]]),
  times: z.number().int().positive().optional(),
});
export type FaultRequest = z.infer<typeof FaultRequest>;

interface ActiveFault {
  request: FaultRequest;
  effects: Effects;
  left: number;
}

/** What is wrong with one machine at the moment. Setting a fault again replaces it. */
export class FaultSet {
  readonly #active = new Map<FaultName, ActiveFault>();
  readonly #cleared: () => void;

  constructor(cleared: () => void) {
    this.#cleared = cleared;
  }

  /** Throws a ZodError that names the wrong option. */
  set(input: unknown): FaultRequest {
    const request = FaultRequest.parse(input);
    const { fault, times = Number.POSITIVE_INFINITY, ...options } = request;
    this.#active.set(fault, { request, effects: faults[fault].bind(options), left: times });
    return request;
  }

  clear(fault?: FaultName): void {
    if (fault) this.#active.delete(fault);
    else this.#active.clear();
    this.#cleared();
  }

  list(): FaultRequest[] {
    return [...this.#active.values()].map(({ request, left }) =>
      Number.isFinite(left) ? { ...request, times: left } : request,
    );
  }

  /** The effects of one kind, oldest fault first. `used` counts one act against the fault's `times`. */
  having<Hook extends keyof Effects>(hook: Hook): { effect: NonNullable<Effects[Hook]>; used(): void }[] {
    return [...this.#active].flatMap(([name, active]) => {
      const effect = active.effects[hook];
      if (!effect) return [];
      const used = () => {
        active.left -= 1;
        if (active.left <= 0 && this.#active.get(name) === active) this.#active.delete(name);
      };
      return [{ effect, used }];
    });
  }
}
