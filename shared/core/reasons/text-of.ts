/** A reason inside another reason. */
export interface Coded {
  readonly code: string;
}

export type TextOf = (reason: Coded) => string;
