/** By code unit: the same order on every machine, whatever its locale. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const plural = (n: number, word: string): string => (n === 1 ? word : `${word}s`);

/** Amounts of money for people: no more digits than mean something. */
export const money = (amount: number): string => String(Number(amount.toPrecision(4)));

export const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
