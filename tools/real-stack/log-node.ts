import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CoreV1Api, type KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { makeAuthority } from './certificates.ts';
import { makeWorkspace } from './process.ts';

export interface LogNode {
  readonly name: string;
  /** Every request for a log: path and query. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A node whose kubelet does one thing: whatever pod's log is asked for, it is this text. kwok's nodes have no logs. */
export async function addLogNode(kubeConfig: KubeConfig, name: string, text: string): Promise<LogNode> {
  const workspace = makeWorkspace('kubelet');
  const { cert, key } = makeAuthority(workspace.folder).issueServer('kubelet');
  const asked: string[] = [];
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    asked.push(request.url ?? '');
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const core = kubeConfig.makeApiClient(CoreV1Api);
  await core.createNode({ body: { metadata: { name } } });
  const { port } = server.address() as AddressInfo;
  await core.patchNodeStatus(
    {
      name,
      body: {
        status: {
          addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
          daemonEndpoints: { kubeletEndpoint: { Port: port } },
        },
      },
    },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  return {
    name,
    asked,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      workspace.remove();
      workspace.removeLogs();
    },
  };
}
