/** How a function's work ends. Closed: mapped once to HTTP, once to the in-process sink. */
export type Outcome<Answer = unknown> =
  | { readonly kind: 'done'; readonly answer: Answer }
  | { readonly kind: 'retry-later'; readonly afterMs: number; readonly why: string }
  | { readonly kind: 'rejected'; readonly why: string };

export const done = <Answer>(answer: Answer): Outcome<Answer> => ({ kind: 'done', answer });

export const retryLater = (afterMs: number, why: string): Outcome<never> => ({
  kind: 'retry-later',
  afterMs,
  why,
});

export const rejected = (why: string): Outcome<never> => ({ kind: 'rejected', why });
