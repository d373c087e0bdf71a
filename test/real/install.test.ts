import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { installManifests } from '../../scripts/generate/install/manifest.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { startHostProcess } from '../../tools/support/host-process.ts';
import { describeWith, findProgram } from '../../tools/support/programs.ts';
import { readText } from '../docs/markdown.ts';
import { newFolder } from '../support/cleanup.ts';

const run = promisify(execFile);
const config = fileURLToPath(new URL('../../config', import.meta.url));

const objectsIn = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
const byName = (objects: readonly KubernetesObject[]) =>
  Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata?.name}`, object]));

/** The commands of a section of the page, with the files that a person would have built. */
function commandsOf(section: string, files: string): string {
  const [, commands = ''] =
    new RegExp(`## ${section}\n.*?\`\`\`sh\n(.*?)\`\`\``, 's').exec(readText('docs/install.md')) ?? [];
  return commands.replaceAll('dist/', `${files}/`);
}

describeWith([...controlPlanePrograms, 'kubectl'], 'installed with kubectl', () => {
  let plane: ControlPlane;
  const folder = newFolder();
  beforeAll(async () => {
    for (const [file, text] of Object.entries(installManifests())) writeFileSync(join(folder, file), text);
    plane = await startControlPlane();
    await addNode(plane.kubeConfig, 'control-1', { labels: { 'node-role.kubernetes.io/control-plane': '' } });
  }, 600_000);
  afterAll(async () => {
    await plane?.close();
  });

  const shell = async (command: string): Promise<string> => {
    const env = {
      ...process.env,
      PATH: `${dirname(findProgram('kubectl') ?? '')}:${process.env.PATH}`,
      KUBECONFIG: plane.kubeConfigFile,
      KUBECACHEDIR: join(folder, 'cache'),
    };
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    return (await run('sh', ['-ec', command], { env, cwd, timeout: 90_000 })).stdout;
  };
  const applied = (file: string) => shell(`kubectl apply --server-side --validate=strict -f ${file}`);
  /** Whatever is ours, in any namespace or none. */
  const ours = async (): Promise<string[]> => {
    const kinds = (await shell('kubectl api-resources --verbs=list -o name')).trim().split('\n');
    const listed = kinds.filter((kind) => !/^(events|componentstatuses)/.test(kind)).join(',');
    const text = await shell(
      `kubectl get ${listed} -A --ignore-not-found -o 'go-template={{range .items}}{{.kind}} {{.metadata.name}}{{"\\n"}}{{end}}'`,
    );
    return text.split('\n').filter((line) => /bamel/.test(line));
  };

  test('kustomize makes the same from config/ as the build does', async () => {
    for (const [file, base] of [
      ['install.yaml', 'default'],
      ['install-ha.yaml', 'ha'],
    ] as const) {
      const { 'Namespace bamel': home, ...built } = byName(objectsIn(installManifests()[file] ?? ''));
      expect(home?.metadata?.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      expect(byName(objectsIn(await shell(`kubectl kustomize ${config}/${base}`)))).toEqual(built);
    }
  });

  test('install.yaml and the samples apply, the host serves them, and the uninstall leaves nothing', async () => {
    await applied(`${folder}/install.yaml`);
    await eventually(async () => {
      // Admitted under the restricted level; without a provisioner of volumes it stays Pending here.
      const { length } = objectsIn(await shell('kubectl -n bamel get pods -o yaml'));
      expect([length, await shell('kubectl -n bamel get pods -o name')]).toEqual([
        1,
        expect.stringMatching(/^pod\/bamel-host-/),
      ]);
    });
    await eventually(() =>
      shell('kubectl -n bamel apply --validate=strict -f config/samples/resources.yaml'),
    );
    await applied('config/samples/workload.yaml');
    await shell('kubectl delete -f config/samples/workload.yaml');

    const kubeconfig = join(folder, 'host.kubeconfig');
    writeFileSync(kubeconfig, (await plane.asServiceAccount('bamel', 'bamel-host')).exportConfig());
    const files = { folder, config: 'resources:', kubeconfig, credentials: folder, remove: async () => {} };
    const host = await startHostProcess(files, 'embedded:', { logLevel: 'info' });
    try {
      await eventually(async () =>
        expect(
          await shell(`kubectl -n bamel get bmn tower-1 -o jsonpath='{.metadata.finalizers}'`),
        ).toContain('bamel.dev/inventory'),
      );
      expect(host.lines.filter((line) => /forbidden|not readable/i.test(line))).toEqual([]);
      expect(await ours()).not.toEqual([]);
      // No controller for volumes runs here: it would let go of the claim once no pod uses it.
      await shell(
        `kubectl -n bamel patch pvc bamel-store --type=merge -p '{"metadata":{"finalizers":null}}'`,
      );
      await shell(commandsOf('Uninstall', folder));
    } finally {
      host.kill('SIGKILL');
      await host.ended;
    }
    await eventually(async () => expect(await ours()).toEqual([]), 60_000);
  }, 300_000);

  test('the sensor is admitted in a namespace of its own, where nothing else is, with an account that may do nothing', async () => {
    await shell('kubectl apply --server-side --validate=strict -k config/sensor');
    await shell('kubectl apply --server-side --validate=strict -k config/sensor-ebpf');
    await eventually(async () =>
      expect(await shell(`kubectl -n bamel-sensor get pods -o jsonpath='{.items[*].spec.nodeName}'`)).toBe(
        'control-1',
      ),
    );
    // What the level privileged is for: what it says when it is taken away.
    const label = 'kubectl label namespace bamel-sensor --overwrite --dry-run=server';
    expect(await shell(`${label} pod-security.kubernetes.io/enforce=baseline 2>&1`)).toMatch(
      /violate the new PodSecurity enforce level "baseline:latest".*host namespaces.*hostPath volumes/s,
    );
    for (const what of ['get pods', 'get nodes', 'create events', 'get secrets'])
      expect(
        await shell(
          `kubectl auth can-i ${what} -A --as=system:serviceaccount:bamel-sensor:bamel-sensor || true`,
        ),
      ).toBe('no\n');
    await shell('kubectl delete -k config/sensor-ebpf');
    await eventually(async () => expect(await ours()).toEqual([]), 60_000);
  }, 150_000);

  test('in another namespace, with two replicas that run', async () => {
    const overlay = join(folder, 'overlay');
    for (const part of ['crd', 'ha']) cpSync(join(config, part), join(overlay, part), { recursive: true });
    mkdirSync(join(overlay, 'mine'));
    writeFileSync(join(overlay, 'mine/kustomization.yaml'), 'namespace: power\nresources: [../ha]\n');
    await shell(
      'kubectl create namespace power && kubectl label namespace power pod-security.kubernetes.io/enforce=restricted',
    );
    await shell(`kubectl apply --server-side --validate=strict -k ${overlay}/mine`);
    await eventually(async () => {
      const phases = await shell(`kubectl -n power get pods -o jsonpath='{.items[*].status.phase}'`);
      expect(phases).toBe('Running Running');
    }, 60_000);
    const may = (what: string) =>
      shell(`kubectl auth can-i ${what} --as=system:serviceaccount:power:bamel-host || true`);
    expect(await may('get secrets -n power')).toBe('yes\n');
    expect(await may('get secrets -n default')).toBe('no\n');
    expect(await may('create pods --subresource=eviction -n default')).toBe('yes\n');
    await shell(`kubectl delete -k ${overlay}/mine && kubectl delete namespace power`);
    expect(await ours()).toEqual([]);
  }, 300_000);
});
