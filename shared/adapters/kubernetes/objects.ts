import { z } from 'zod';
import type { KubeObject, KubeObjects } from '../../ports/kubernetes-objects.ts';
import { PowerError } from '../../ports/power.ts';
import { retryAfter } from './errors.ts';
import { ApiException, type KubeAnswer, type KubeCall, type KubeTransport } from './transport.ts';

/** On a connection that has silently died a call would last for minutes. */
const longestMs = 10_000;

const Status = z.object({
  message: z.string().optional(),
  details: z
    .object({
      name: z.string().optional(),
      causes: z.array(z.object({ field: z.string().optional(), reason: z.string().optional() })).optional(),
    })
    .optional(),
});

const Metadata = z.looseObject({ name: z.string() });
const One = z.looseObject({ metadata: Metadata });
const Many = z.object({ items: z.array(One) });
const anything = z.unknown().transform(() => true);

/** Any object of the cluster by path, for drivers. Connects on first use. */
export function kubeObjects(kube: Pick<KubeTransport, 'send'>): KubeObjects {
  const send = async (call: KubeCall, signal: AbortSignal): Promise<KubeAnswer> => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
    try {
      inTime.throwIfAborted();
      return await kube.send(call, inTime);
    } catch (error) {
      const { code } = error as { code?: unknown };
      throw inTime.aborted
        ? new PowerError('timeout', `${nameOf(call)}: the Kubernetes API server did not answer in time`)
        : new PowerError(
            'unreachable',
            `${nameOf(call)}: the Kubernetes API server does not answer (${code ?? (error as Error).message})`,
          );
    }
  };
  /** What came of it; undefined: there is no such object. */
  const ask = async <Value>(
    schema: z.ZodType<Value>,
    call: KubeCall,
    signal: AbortSignal,
  ): Promise<Value | undefined> => {
    const answer = await send(call, signal);
    if (answer.status >= 200 && answer.status < 300) return parsed(schema, call, answer);
    // Of a kind that is not served there is no object either, but that proves nothing about it.
    if (answer.status === 404 && statusOf(answer).details?.name !== undefined) return undefined;
    throw refusalOf(call, answer);
  };
  const get: KubeObjects['get'] = (path, signal) => ask(One, { method: 'GET', path, query: {} }, signal);

  return {
    get,
    async list(path, labelSelector, signal) {
      const call = { method: 'GET', path, query: { labelSelector } } as const;
      return (await ask(Many, call, signal))?.items ?? [];
    },
    async ensure(path, object, signal) {
      const there = await get(path, signal);
      if (there) return there;
      const folder = path.slice(0, path.lastIndexOf('/'));
      const call = { method: 'POST', path: folder, query: {}, body: object } as const;
      const answer = await send(call, signal);
      // Somebody else was faster.
      const made = answer.status === 409 ? await get(path, signal) : undefined;
      if (made) return made;
      if (answer.status >= 300) throw refusalOf(call, answer);
      return parsed<KubeObject>(One, call, answer);
    },
    async patch(path, change, signal) {
      const call = { method: 'PATCH', path, query: {}, body: change } as const;
      const patched = await ask(One, call, signal);
      if (patched) return patched;
      throw new PowerError('busy', `${nameOf(call)}: it was deleted meanwhile`);
    },
    async remove(path, signal) {
      return (await ask(anything, { method: 'DELETE', path, query: {} }, signal)) ?? false;
    },
  };
}

/** The request, for messages. */
const nameOf = ({ method, path }: KubeCall): string => `${method} ${path}`;

const codes: Readonly<Record<number, PowerError['code']>> = {
  400: 'config',
  409: 'busy',
  422: 'config',
  429: 'busy',
};

/** A message about what was sent may repeat it, and that may be a key: then only the fields are named. */
function refusalOf(call: KubeCall, answer: KubeAnswer): PowerError {
  const { status } = answer;
  const { message, details } = statusOf(answer);
  const fields = details?.causes?.map(({ field, reason }) => `${field ?? 'it'}: ${reason ?? 'wrong'}`) ?? [];
  const why = status === 400 || status === 422 ? fields.join(', ') : message?.slice(0, 300);
  // A webhook that denies a request responds with forbidden too: a permission would not help.
  const hint = status === 403 && !message?.includes('cannot') ? '' : (hints[status] ?? '');
  return new PowerError(
    codes[status] ?? (status >= 500 ? 'unreachable' : 'refused'),
    `${nameOf(call)}: the Kubernetes API server answered ${status}${why ? ` (${why})` : ''}${hint}`,
    { retryAfterMs: retryAfter(new ApiException(answer)) },
  );
}

const hints: Readonly<Record<number, string>> = {
  401: '. Its token or certificate is not taken: renew what our kubeconfig or ServiceAccount has',
  403: '. Give our ServiceAccount that right, as config/remote does',
  404: '. It serves nothing of that kind: is Liqo installed?',
};

function statusOf({ text }: KubeAnswer): z.infer<typeof Status> {
  return Status.safeParse(jsonOf(text)).data ?? {};
}

function parsed<Value>(schema: z.ZodType<Value>, call: KubeCall, { text }: KubeAnswer): Value {
  const result = schema.safeParse(jsonOf(text));
  if (result.success) return result.data;
  throw new PowerError('refused', `${nameOf(call)}: the Kubernetes API server answers no object`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An unknown path is answered with a line of text, and some proxies answer with a page.
    return undefined;
  }
}
