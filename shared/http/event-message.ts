import { CloudEvent, HTTP } from 'cloudevents';

export interface OutgoingEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly data: object;
  readonly extensions?: Readonly<Record<string, string>> | undefined;
}

/** An event as a request in the binary mode of the CloudEvents HTTP binding. */
export function eventMessage({ time, extensions, ...event }: OutgoingEvent): {
  readonly headers: Record<string, string>;
  readonly body: string;
} {
  const { headers, body } = HTTP.binary(
    new CloudEvent({
      ...extensions,
      ...event,
      time: new Date(time).toISOString(),
      datacontenttype: 'application/json',
    }),
  );
  const safe = Object.entries(headers).map(([name, value]) => [name, headerSafe(String(value))]);
  return { headers: Object.fromEntries(safe), body: String(body) };
}

/** The HTTP binding demands percent-encoding of all but printable ASCII; the package leaves that to its caller. */
const headerSafe = (value: string): string =>
  value.replace(/[^ -~]|["%]/gu, (char) => encodeURIComponent(char));
