import type { Deps } from '../../functions/deps.ts';
import { DrainInput, requestDrain } from '../../shared/by-hand/drain.ts';
import type { RequestResult } from '../../shared/by-hand/power.ts';
import { handlePowerInput, PowerInput } from '../../shared/by-hand/power-input.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import { events } from '../../shared/ports/event-types.ts';
import { type ServedFunction, served } from '../../shared/server/function.ts';

const answered = (result: RequestResult | undefined) => {
  if (!result)
    return rejected('what is to be done, and to which machine? The function itself runs elsewhere');
  return result.ok ? done(result) : rejected(result.why);
};

/**
 * What the buttons ask, where the functions that do it run elsewhere: it is written to the store, and they are woken.
 * Nothing is carried out here, so that this process needs no credentials and changes nothing in the cluster.
 */
export const actsOf = (deps: Deps): ServedFunction[] => [
  served(
    {
      name: 'power-action',
      does: 'begins what a person asks of a machine',
      wakesOn: [],
      emits: [events.powerRequested, events.drainRequested],
      input: PowerInput,
    },
    async (input) => answered(await handlePowerInput(deps, input)),
  ),
  served(
    {
      name: 'drain-node',
      does: 'begins to empty a node, or calls that off',
      wakesOn: [],
      emits: [events.drainRequested, events.drainAborted],
      input: DrainInput,
    },
    async ({ machine, action, ...how }) => {
      if (machine === undefined || action === undefined) return answered(undefined);
      // To open a node that nobody drains takes a right that this process has not.
      const { cluster, ...hands } = deps;
      return answered(
        await requestDrain(action === 'drain' ? { ...hands, cluster } : hands, machine, { action, ...how }),
      );
    },
  ),
];
