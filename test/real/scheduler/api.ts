import { Agent, request } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

export interface Api {
  /** The answer's JSON. Throws what the server said when it refuses. */
  call<Answer = unknown>(method: string, path: string, body?: unknown): Promise<Answer>;
  close(): void;
}

const mergePatch = 'application/merge-patch+json';

/** Plain requests over kept connections: tens of thousands of small objects are written here. */
export function createApi(kubeConfig: KubeConfig): Api {
  const { server, caData } = kubeConfig.getCurrentCluster() ?? {};
  const ca = Buffer.from(caData ?? '', 'base64');
  const token = kubeConfig.getCurrentUser()?.token;
  const agent = new Agent({ keepAlive: true, maxSockets: 12, ca });
  return {
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? '' : JSON.stringify(body);
        const asking = request(
          new URL(path, server),
          {
            method,
            agent,
            headers: {
              authorization: `Bearer ${token}`,
              'content-length': Buffer.byteLength(text),
              'content-type': method === 'PATCH' ? mergePatch : 'application/json',
            },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () => {
              const answer = Buffer.concat(chunks).toString();
              if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(answer));
              else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`));
            });
            response.on('error', reject);
          },
        );
        asking.on('error', reject);
        asking.end(text);
      }),
    close: () => agent.destroy(),
  };
}

/** A few at a time: the API server shares the machine with the scheduler. */
export async function each<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>) {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as Item, index);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
}
