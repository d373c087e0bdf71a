import type { Metrics } from './metrics.ts';

/** More than that is not kept for later. */
const mostMissed = 200;

type Instrument = Readonly<Record<string, (...given: unknown[]) => unknown>>;
type Instruments = Readonly<Record<string, Instrument>>;

/**
 * Counts from the start, while the metrics themselves are made when somebody asks for them (`registry`): a process
 * that is started for one event answers it first.
 */
export function metricsLater(make: () => Metrics): Metrics {
  let made: Metrics | undefined;
  const missed: ((instruments: Instruments) => void)[] = [];
  const now = (): Metrics => {
    if (made) return made;
    made = make();
    for (const call of missed.splice(0)) call(made as unknown as Instruments);
    return made;
  };
  const instrument = (name: string): Instrument =>
    new Proxy<Record<string, (...given: unknown[]) => unknown>>(
      {},
      {
        get:
          (_, method: string) =>
          (...given: unknown[]) => {
            const call = (instruments: Instruments) => instruments[name]?.[method]?.(...given);
            if (made) call(made as unknown as Instruments);
            else if (missed.push(call) > mostMissed) now();
          },
      },
    );
  return new Proxy({} as Metrics, {
    get: (_, name: string) => (name === 'registry' ? now().registry : instrument(name)),
  });
}
