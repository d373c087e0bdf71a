import { type Agent, type ClientRequest, validateHeaderValue } from 'node:http';
import type { AxiosInstance } from 'axios';
import { PowerError } from '../ports/power.ts';

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** Opens the connections: axios itself resolves no name and opens no socket. */
  readonly agent: Agent;
  /** Limits the total time, from the name lookup to the last byte of the body. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export const largestBody = 1_000_000;

/** A failed exchange. It carries no cause: the error of axios contains the headers of the request. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  /** The code of Node.js, or `too-large`. */
  readonly code: string;
  /** True: the request went out on an open connection, and no byte of an answer came back on it. */
  readonly wasDropped: boolean;
  constructor(message: string, code: string, wasDropped = false) {
    super(message);
    this.code = code;
    this.wasDropped = wasDropped;
  }
}

let instance: AxiosInstance | undefined;

/** Loads axios at the first request: a process that sends none does not pay for it. */
async function client(): Promise<AxiosInstance> {
  if (instance) return instance;
  const { default: axios } = await import('axios');
  instance = axios.create({
    adapter: 'http',
    proxy: false,
    maxRedirects: 0,
    maxContentLength: largestBody,
    decompress: false,
    responseType: 'text',
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
  });
  return instance;
}

/** Headers that axios adds unless they are set to false. */
const unwanted = { accept: false, 'accept-encoding': false, 'content-type': false, 'user-agent': false };

/** Sends one request and returns the answer, whatever its status. Throws ExchangeError, or the PowerError of the agent. */
export async function exchange({ method, url, headers, body, agent, signal }: Exchange): Promise<HttpAnswer> {
  try {
    // axios would remove characters that are not allowed and send the rest.
    for (const [name, value] of Object.entries(headers ?? {})) validateHeaderValue(name, value);
    const { request } = await client();
    const answer = await request<string>({
      method,
      // Without a user and a password: axios would replace the authorization header with them.
      url: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...unwanted, ...headers },
      data: body,
      httpAgent: agent,
      httpsAgent: agent,
      signal,
    });
    return {
      status: answer.status,
      headers: { ...answer.headers } as HttpAnswer['headers'],
      text: answer.data,
    };
  } catch (error) {
    throw withoutRequest(error);
  }
}

/** The used fields of errors of axios and Node.js. */
interface Thrown {
  readonly message?: string;
  readonly code?: string;
  readonly cause?: unknown;
  readonly request?: Partial<ClientRequest>;
  readonly response?: unknown;
}

function withoutRequest(error: unknown): ExchangeError | PowerError {
  const { message = '', code = 'unknown error', cause, request, response } = error as Thrown;
  if (cause instanceof PowerError) return cause;
  if (message.startsWith('maxContentLength'))
    return new ExchangeError(`the answer is longer than ${largestBody} bytes`, 'too-large');
  const wasDropped = response === undefined && request?.reusedSocket === true;
  // axios has a code of its own for an answer that ends early.
  return new ExchangeError(message, code === 'ERR_BAD_RESPONSE' ? 'ECONNRESET' : code, wasDropped);
}
