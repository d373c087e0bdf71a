import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labConfig } from '../../simulator/lab/config.ts';
import { startLab } from '../../simulator/lab/lab.ts';
import { makeMachines } from '../../simulator/lab/rack/description.ts';
import { writeHostFiles } from '../support/host-process.ts';
import { copyBundle } from './run-bundle.ts';

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

/** A copy of a function's bundle without the Kubernetes client, gRPC and the like; to be removed by whoever asks for it. */
export async function withoutLargePackages(folder: string): Promise<string> {
  const light = await mkdtemp(join(tmpdir(), 'bamel-light-'));
  await copyBundle(folder, light);
  let removed = 0;
  for (const file of await readdir(join(light, 'later'))) {
    const path = join(light, 'later', file);
    if (!file.endsWith('.cjs') || (await stat(path)).size < 500_000) continue;
    await rm(path);
    removed += 1;
  }
  if (removed === 0) throw new Error(`${folder} has nothing large to be left out`);
  return light;
}
