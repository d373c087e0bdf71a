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
