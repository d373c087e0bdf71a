/**
 * How much is added to a guess so that it is enough as often as the confidence says. Each value that was more than
 * expected widens the margin, each that was not narrows it: the share of misses settles at 1 - confidence, whatever
 * the values look like.
 */
export interface Margin {
  readonly width: number;
}

const stepSize = 0.05;

export const firstMargin = (confidence: number): Margin => ({ width: 4 * (confidence - 0.5) });

export const adjusted = ({ width }: Margin, missed: boolean, confidence: number): Margin => ({
  width: Math.min(50, Math.max(-5, width + stepSize * ((missed ? 1 : 0) - (1 - confidence)))),
});
