import type { PressureReport } from '../../shared/schema/pressure.ts';

/** What a sensor would send when the cpu of n1 is pressed. */
export const report = (parts: Partial<PressureReport> = {}): PressureReport => ({
  node: 'n1',
  category: 'cpu',
  from: 'calm',
  to: 'pressed',
  sign: 'rising',
  level: 0.8,
  share: 0.7,
  full: 0,
  baseline: 0.02,
  ratePerSecond: 1.5,
  windowMs: 250,
  signal: 'psi',
  pods: [],
  unattributed: 1,
  sequence: 1,
  ...parts,
});
