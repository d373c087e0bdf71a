import { randomUUID } from 'node:crypto';
import { labConfig } from '../../simulator/lab/config.ts';
import { startLab } from '../../simulator/lab/lab.ts';
import { makeMachines } from '../../simulator/lab/rack/description.ts';
import { writeHostFiles } from '../../tools/support/host-process.ts';

export interface Scene {
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

/** One machine of the lab, so that a tick has something to look at. */
export async function startScene(): Promise<Scene> {
  const lab = await startLab({ machines: makeMachines(1, { pool: 'rack' }), speed: 10 });
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack' }] });
  const files = await writeHostFiles(config, lab.kubeconfig, lab.inventory());
  return {
    env: {
      BAMEL_CONFIG: files.config,
      KUBECONFIG: files.kubeconfig,
      BAMEL_CREDENTIALS_DIR: files.credentials,
    },
    async close() {
      await lab.stop();
      await files.remove();
    },
  };
}

/** The status of the answer. */
export const tick = async (url: string) => {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': randomUUID(),
    'ce-source': '/test',
    'ce-type': 'dev.bamel.tick.due',
  };
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
};
