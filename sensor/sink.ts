import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { events } from '../shared/ports/event-types.ts';
import { withoutCredentials } from '../shared/process/redact.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';

export interface SinkOptions {
  /** K_SINK. */
  readonly url: string;
  /** From K_CA_CERTS: trusted besides the usual ones. */
  readonly caCerts?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly timeoutMs?: number;
}

/** Sends once. Rejects when the report is not accepted; the outbox retries. */
export type Send = (report: PressureReport) => Promise<void>;

/**
 * Sends reports as binary CloudEvents. The sequence number is part of the id, so that the receiver detects duplicates.
 * Uses node:http: axios, which the rest of the project uses, adds 14 MB to the 50 MB of a sensor.
 */
export function createSend({ url: text, caCerts, tokenFile, timeoutMs = 5_000 }: SinkOptions): Send {
  const url = new URL(text);
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return async (report) => {
    const { headers, body } = await messageOf(report);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const secret = tokenFile && readFileSync(tokenFile, 'utf8').split('\n', 1)[0]?.trim();
    const request = start(url, {
      method: 'POST',
      // A connection each: events are rare, and one that was closed meanwhile would cost a try.
      agent: false,
      timeout: timeoutMs,
      headers: { ...headers, ...(secret && { authorization: `Bearer ${secret}` }) },
      ...(caCerts && { ca: [...rootCertificates, caCerts] }),
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    request.on('error', reject);
    request.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    request.end(body);
    const status = await promise;
    if (status < 200 || status > 299)
      throw new Error(
        `${withoutCredentials(url.href)} answered ${status}: check K_SINK and BAMEL_TOKEN_FILE`,
      );
  };
}

async function messageOf(report: PressureReport) {
  // Loaded with the first event: a node without pressure does not pay for it.
  const { eventMessage } = await import('../shared/http/event-message.ts');
  const { node, category, sequence } = report;
  return eventMessage({
    id: `${node}-${sequence}`,
    source: `/bamel/sensor/${encodeURI(node)}`,
    type: events.pressureChanged,
    subject: `${node}/${category}`,
    time: Date.now(),
    data: { pressure: report },
  });
}
