/** One request to the API server. */
export interface KubeCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What is undefined is left out. */
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** It changes nothing, although it is no GET. */
  readonly onlyAsks?: boolean;
  /** A caller waits for it. */
  readonly isUrgent?: boolean;
}

export interface KubeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface KubeWatch {
  readonly path: string;
  readonly query: KubeCall['query'];
  /** Without a word for so long it is given up. */
  readonly silenceMs: number;
  onEvent(type: string, object: unknown): void;
  /** Once, whatever ends it; with what went wrong, if something did. */
  onEnd(error: unknown): void;
}

/** How an API server is reached, and who we are to it. */
export interface KubeTransport {
  readonly namespace: string | undefined;
  send(call: KubeCall, signal: AbortSignal): Promise<KubeAnswer>;
  /** Resolves once the server has answered, or not; then `onEnd` was called. */
  watch(watch: KubeWatch): Promise<AbortController>;
  close(): void;
}

export const contentTypeOf = ({ method }: Pick<KubeCall, 'method'>): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';

/** The server answered, and it was no. Of the same shape as client-node's. */
export class ApiException extends Error {
  readonly code: number;
  readonly body: string | undefined;
  readonly headers: KubeAnswer['headers'];

  constructor({ status, text, headers }: KubeAnswer) {
    super(`the API server answered ${status}`);
    this.code = status;
    this.body = text || undefined;
    this.headers = headers;
  }
}

/** Ours or client-node's, which is loaded only where it is needed. */
export const isAnswer = (error: unknown): error is ApiException =>
  error instanceof Error && 'headers' in error && typeof (error as { code?: unknown }).code === 'number';
