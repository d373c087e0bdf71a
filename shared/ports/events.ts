/** What functions tell each other; wrapped into a CloudEvent on the way out. */
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
  /** Not known of those that others gave up on. */
  readonly tries?: number;
  readonly lastError: string;
  readonly at: number;
}

/** What has been handled, as far back as it matters. */
export interface SeenEvents {
  has(id: string): Promise<boolean>;
  add(id: string): Promise<void>;
}
