import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shareKube } from '../../shared/adapters/kube-config.ts';

const kubeconfig = JSON.stringify({
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'bamel' } }],
  clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'u', user: {} }],
});

test('all of a process share one; what could not be opened is tried again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bamel-kube-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  const kube = shareKube({ kubeconfigFile });
  try {
    await expect(kube.open()).rejects.toThrow('ENOENT');
    await writeFile(kubeconfigFile, kubeconfig);
    const [one, other] = await Promise.all([kube.open(), kube.open()]);
    expect(one).toBe(other);
    expect(one.namespace).toBe('bamel');
  } finally {
    await kube.close();
    await rm(folder, { recursive: true });
  }
});
