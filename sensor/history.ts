interface Sample {
  readonly from: number;
  readonly to: number;
  readonly share: number;
  readonly full: number;
}

/** The last seconds of one signal. */
export interface History {
  add(sample: Sample): void;
  /** Means over the last so many milliseconds, and over as many before them. */
  over(ms: number): { readonly share: number; readonly full: number; readonly before: number };
}

const rememberMs = 22_000;

export function createHistory(): History {
  let samples: Sample[] = [];
  const mean = (from: number, to: number, of: 'share' | 'full'): number => {
    let sum = 0;
    let time = 0;
    for (const sample of samples) {
      const part = Math.min(sample.to, to) - Math.max(sample.from, from);
      if (part <= 0) continue;
      sum += part * sample[of];
      time += part;
    }
    return time === 0 ? 0 : sum / time;
  };
  return {
    add(sample) {
      samples.push(sample);
      // Not with every sample: moving all of them ten times a second would be most of the work.
      if (sample.to - (samples[0]?.to ?? 0) > 2 * rememberMs)
        samples = samples.filter(({ to }) => sample.to - to <= rememberMs);
    },
    over(ms) {
      const end = samples.at(-1)?.to ?? 0;
      return {
        share: mean(end - ms, end, 'share'),
        full: mean(end - ms, end, 'full'),
        before: mean(end - 2 * ms, end - ms, 'share'),
      };
    },
  };
}
