import { amount, duration, money, percent } from './format.ts';

/** What each policy's score means, in its own unit. Less is better, so wishes are negative. */
const units: Readonly<Record<string, (score: number, at: number) => string>> = {
  priority: (score) => `priority ${amount(-score)}`,
  own: (score) => (score === 0 ? 'own machine' : 'remote'),
  health: (score) => (score === 0 ? 'no failure' : `${amount(score)} failures or warnings`),
  pressure: (score) => `${amount(score * 100)} % off the ideal size`,
  watts: (score) => `${amount(score)} W per unit of demand`,
  waste: (score) => `${percent(score)} unused`,
  preference: (score) => `${amount(-score)} points of preference`,
  price: (score) => `${money(score)} an hour per unit of demand`,
  nearness: (score) => `region ${Math.floor(score / 1e6) + 1} in order, ${distance(score % 1e6)}`,
  diversity: (score) =>
    `on already: ${Math.floor(score / 1e10)} in its zone, ${Math.floor(score / 1e5) % 1e5} in its rack, ${score % 1e5} on its circuit`,
  'boot-time': (score) => `boots in ${duration(score)}`,
  wear: (score, at) => `off for ${duration(at - score)}`,
};

const distance = (ms: number): string => (ms >= 1e6 - 1 ? 'latency not measured' : `${amount(ms)} ms away`);

/** `at` is when the decision was made. */
export const scoreText = (policy: string, score: number, at: number): string =>
  units[policy]?.(score, at) ?? `${policy} ${amount(score)}`;

export const knownPolicies = Object.keys(units);
