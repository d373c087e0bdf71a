import { type IOptions, isRecoverableError } from 'etcd3';

type FaultHandling = NonNullable<IOptions['faultHandling']>;
type Policy = NonNullable<FaultHandling['global']>;

const restMs = 3000;
const context = { signal: new AbortController().signal };

/**
 * Replaces etcd3's own fault handling, which sends a transaction again after it may have been applied. Here
 * nothing is sent twice; the caller, who knows what may be repeated, does that. A host that failed is passed
 * over for a while if there is another: a frozen member would otherwise cost every third call its deadline.
 */
export function hostChoice(hosts: readonly string[]): FaultHandling {
  const restsUntil = new Map<string, number>();
  const rests = (host: string) => (restsUntil.get(host) ?? 0) > performance.now();
  return {
    global: policy((call) => call()),
    host: (host) =>
      policy(async (call) => {
        if (rests(host) && !hosts.every(rests)) throw new Error(`${host} failed a moment ago`);
        try {
          const answer = await call();
          restsUntil.delete(host);
          return answer;
        } catch (error) {
          if (isRecoverableError(error as Error)) restsUntil.set(host, performance.now() + restMs);
          throw error;
        }
      }),
  };
}

function policy(execute: <T>(call: () => PromiseLike<T> | T) => PromiseLike<T> | T): Policy {
  const silent = () => ({ dispose: () => undefined });
  return {
    execute: async (call) => execute(() => call(context)),
    onSuccess: silent,
    onFailure: silent,
    // Exists for the type checker only, says its declaration.
    _altReturn: undefined as never,
  };
}
