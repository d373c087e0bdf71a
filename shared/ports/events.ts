/** An event between functions; sent as a CloudEvent. */
export interface BamelEvent {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventSink {
  /** Hands the event over. It may be delivered twice, late or, after a crash, never: the tick makes it good. */
  emit(event: BamelEvent): Promise<void>;
}

export interface DeadLetter {
  readonly event: BamelEvent;
  readonly function: string;
  /** Absent for dead letters of a broker. */
  readonly tries?: number;
  readonly lastError: string;
  readonly at: number;
}

/** Ids of handled events. */
export interface SeenEvents {
  has(id: string): Promise<boolean>;
  add(id: string): Promise<void>;
}
