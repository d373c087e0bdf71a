import { forecastTexts } from './forecast.ts';
import { limitTexts } from './limits.ts';
import { machineTexts } from './machine.ts';
import { offerTexts } from './offers.ts';
import { planTexts } from './plan.ts';
import { podTexts } from './pod.ts';
import type { Coded, TextOf } from './text-of.ts';

/** Every reason that the core gives: its code, and its text made from its facts. */
const texts = { ...machineTexts, ...podTexts, ...limitTexts, ...forecastTexts, ...planTexts, ...offerTexts };

export type ReasonCode = keyof typeof texts;

type FactsOf<Code extends ReasonCode> =
  Parameters<(typeof texts)[Code]> extends readonly [infer Facts, ...unknown[]] ? Facts : unknown;

/** A code and the facts that its text names. Tests and programs read these; the text is for people. */
export type Reason = { [Code in ReasonCode]: { readonly code: Code } & FactsOf<Code> }[ReasonCode];

/** A reason as it is shown and stored. Records from before reasons had codes have the text only. */
export interface Explained {
  readonly why: string;
  readonly reason?: Reason | undefined;
}

/** A code that this version does not know is its own text. */
const text = (reason: Coded): string => {
  const of: ((facts: never, textOf: TextOf) => string) | undefined = texts[reason.code as ReasonCode];
  return of?.(reason as never, text) ?? reason.code;
};

export const textOf = (reason: Reason): string => text(reason);

export const because = (reason: Reason): { readonly why: string; readonly reason: Reason } => ({
  why: textOf(reason),
  reason,
});

/** As the API shows it: the code stands for the facts, which the text names. */
export const withCode = <Told extends Explained>({
  reason,
  ...told
}: Told): Omit<Told, 'reason'> & { code?: string } => ({ ...told, ...(reason && { code: reason.code }) });

/** In their order, each text once. */
export const distinct = (reasons: Iterable<Reason>): Reason[] => {
  const byText = new Map<string, Reason>();
  for (const reason of reasons) {
    const text = textOf(reason);
    if (!byText.has(text)) byText.set(text, reason);
  }
  return [...byText.values()];
};
