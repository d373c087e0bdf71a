/** Predicts slowly rising utilization from its slope, before tasks have to wait. */
export interface Ramp {
  /** The share that will be used a while from now if it goes on like this; what is used now when it does not climb. */
  take(share: number, at: number): number;
}

const rememberMs = 30_000;
const aheadMs = 60_000;
/** Of less than this much time, a slope says nothing. */
const leastMs = 10_000;
/** Below this a node has room, however fast it climbs. */
const least = 0.7;
/** All that is told of a node that is busy but does not climb: as long as nobody waits, it may be as it should be. */
const steady = 0.9;

export function createRamp(): Ramp {
  let samples: { readonly share: number; readonly at: number }[] = [];
  return {
    take(share, at) {
      samples = [...samples.filter((sample) => at - sample.at <= rememberMs), { share, at }];
      const recent = samples.filter((sample) => at - sample.at <= leastMs / 2);
      const level = mean(recent.map((sample) => sample.share));
      // What has just become idle climbs no more, whatever the last half minute was like.
      if (share < least / 2) return share;
      if (level < least || at - (samples[0]?.at ?? at) < leastMs) return Math.min(level, steady);
      const climb = slope(samples);
      return climb > 0 ? Math.min(1, level + climb * aheadMs) : Math.min(level, steady);
    },
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** A slope counts when it is so many times its own uncertainty: busy is not the same as climbing. */
const certain = 4;

/** Per millisecond, by least squares; 0 when it may as well be noise. */
function slope(samples: readonly { readonly share: number; readonly at: number }[]): number {
  const at = mean(samples.map((sample) => sample.at));
  const share = mean(samples.map((sample) => sample.share));
  let above = 0;
  let below = 0;
  for (const sample of samples) {
    above += (sample.at - at) * (sample.share - share);
    below += (sample.at - at) ** 2;
  }
  const steep = above / Math.max(1, below);
  const left = samples.reduce(
    (sum, sample) => sum + (sample.share - share - steep * (sample.at - at)) ** 2,
    0,
  );
  const uncertain = Math.sqrt(left / Math.max(1, samples.length - 2) / Math.max(1, below));
  return steep > certain * uncertain ? steep : 0;
}
