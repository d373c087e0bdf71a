import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { httpRequest } from '../../http/peer.ts';
import { type Measured, MetricsError, type MetricsSource } from '../../ports/metrics.ts';
import { type DriverDeps, PowerError } from '../../ports/power.ts';

export interface PrometheusOptions {
  readonly url: string;
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly resolve: DriverDeps['resolve'];
}

/** A time in seconds, and the number as text: JSON has neither NaN nor infinity. */
const Sample = z.tuple([z.number(), z.string()]);
const Answer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('success'),
    data: z.discriminatedUnion('resultType', [
      z.object({ resultType: z.literal('vector'), result: z.array(z.object({ value: Sample })) }),
      z.object({ resultType: z.literal('scalar'), result: Sample }),
    ]),
  }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);

const longest = 300;

/** Queries Prometheus over its HTTP API: no redirects, no proxies, only the address that was checked. */
export function prometheus({ url, tokenFile, caFile, resolve }: PrometheusOptions): MetricsSource {
  const address = new URL(url);
  const peer = {
    who: 'Prometheus',
    address,
    section: 'prometheus',
    tls: caFile === undefined ? undefined : { caFile },
    resolve,
    fail: (code: PowerError['code'], message: string) => new PowerError(code, message),
  };
  const request = async (expression: string) => ({
    method: 'POST',
    path: `${address.pathname.replace(/\/$/, '')}/api/v1/query`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(tokenFile !== undefined && { authorization: `Bearer ${await readToken(tokenFile)}` }),
    },
    body: new URLSearchParams({ query: expression }).toString(),
  });
  return {
    async query(expression, signal) {
      try {
        const { status, text } = await httpRequest(peer, await request(expression), signal);
        return measured(status, text);
      } catch (error) {
        throw error instanceof PowerError ? new MetricsError(inOurWords(error.message)) : error;
      }
    },
  };
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new MetricsError(
      `BAMEL_PROMETHEUS_TOKEN_FILE cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

function measured(status: number, text: string): Measured {
  if (status === 401 || status === 403)
    throw new MetricsError(
      `Prometheus refused us (${status}): put its token into BAMEL_PROMETHEUS_TOKEN_FILE`,
    );
  const answer = parseAnswer(text);
  // Bad queries are answered with 400 or 422 and the reason.
  if (answer?.status === 'error')
    throw new MetricsError(`Prometheus answered ${status}: ${answer.error.slice(0, longest)}`);
  if (status !== 200 || !answer)
    throw new MetricsError(
      `Prometheus answered ${status}, not with one number or one per series: is BAMEL_PROMETHEUS_URL the right one?`,
    );
  const { data } = answer;
  const samples = data.resultType === 'scalar' ? [data.result] : data.result.map(({ value }) => value);
  return {
    at: samples.reduce((oldest, [at]) => Math.min(oldest, at * 1000), Number.POSITIVE_INFINITY),
    values: samples.map(([, value]) => Number(value)),
  };
}

function parseAnswer(text: string): z.output<typeof Answer> | undefined {
  try {
    return Answer.safeParse(JSON.parse(text)).data;
  } catch {
    // Without the body: an error page adds nothing to the status.
    return undefined;
  }
}

/** What drivers call an option of a machine is a setting of the process here. */
const inOurWords = (message: string): string =>
  message
    .replaceAll('prometheus.tls.caFile', 'BAMEL_PROMETHEUS_CA')
    .replace(/, or prometheus\.tls\.\w+ .*$/, '')
    .replace('If a BMC is there', 'If Prometheus is there');
