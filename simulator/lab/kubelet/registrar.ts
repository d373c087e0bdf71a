import { z } from 'zod';
import { leasePath } from './heartbeats.ts';
import type { KubeApi } from './kube-api.ts';
import {
  defaultLabels,
  type KubeletHost,
  nodeConditions,
  nodeObject,
  nodeStatus,
  readyCondition,
} from './node-object.ts';

const nodePath = (name: string) => `/api/v1/nodes/${name}`;

const Registered = z.object({ metadata: z.object({ uid: z.string() }) });

/** Who plays the kubelet once a machine has booted. */
export interface Registrar {
  /** Whether our kubelet heartbeats the node and runs its pods. */
  ours: boolean;
  annotations: Record<string, string>;
  /** Before the node is registered. */
  booted(api: KubeApi, name: string): Promise<unknown>;
  halted(api: KubeApi, name: string): Promise<unknown>;
}

const kwokNode = 'kwok.x-k8s.io/node';
const longerThanAnyLab = 2 ** 31 - 1;

export const registrars = {
  kubelet: {
    ours: true,
    annotations: {},
    booted: async () => {},
    // A machine without power tells nobody.
    halted: async () => {},
  },
  // kwok renews a lease until somebody else holds it, and touches neither node nor pods without it. An
  // expired holder would lose it again, so the one who takes it holds it for long but never renews it.
  kwok: {
    ours: false,
    annotations: { [kwokNode]: 'fake' },
    booted: (api, name) => expectOk(api, 'DELETE', leasePath(name), undefined, 404),
    async halted(api, name) {
      const spec = { holderIdentity: 'powered-off', leaseDurationSeconds: longerThanAnyLab };
      await expectOk(api, 'PATCH', leasePath(name), { spec }, 404);
      await expectOk(api, 'PATCH', nodePath(name), { metadata: { annotations: { [kwokNode]: null } } }, 404);
    },
  },
} satisfies Record<string, Registrar>;

export type RegistrarName = keyof typeof registrars;

/** Creates the Node, or tells the existing one about this boot; cordons, taints and foreign labels stay. */
export async function register(
  api: KubeApi,
  { annotations, booted }: Registrar,
  host: KubeletHost,
): Promise<string> {
  await booted(api, host.name);
  const status = { ...nodeStatus(host), conditions: nodeConditions(new Date().toISOString()) };
  const created = await expectOk(api, 'POST', '/api/v1/nodes', nodeObject(host, annotations, status), 409);
  if (created.status !== 409) return Registered.parse(created.body).metadata.uid;
  const metadata = { labels: defaultLabels(host), annotations };
  const { body } = await expectOk(api, 'PATCH', nodePath(host.name), { metadata });
  await patchNodeStatus(api, host.name, status);
  return Registered.parse(body).metadata.uid;
}

export function setReady(api: KubeApi, name: string, ready: boolean) {
  const now = new Date().toISOString();
  return patchNodeStatus(api, name, {
    conditions: ready ? nodeConditions(now) : [readyCondition(false, now)],
  });
}

const patchNodeStatus = (api: KubeApi, name: string, status: object) =>
  expectOk(api, 'PATCH', `${nodePath(name)}/status`, { status }, 404);

/** Rejects on every answer but 2xx and those named as fine too. */
export async function expectOk(
  api: KubeApi,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  ...alsoFine: number[]
) {
  const answer = await api.send(method, path, body);
  if (answer.status < 300 || alsoFine.includes(answer.status)) return answer;
  throw new Error(`${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
}
