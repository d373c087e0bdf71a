import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const containerPrograms = ['buildah', 'podman', 'runc'] as const;

const root = fileURLToPath(new URL('../..', import.meta.url));
const call = promisify(execFile);

interface Layer {
  readonly digest: string;
  readonly size: number;
}

export interface RunningContainer {
  readonly lines: readonly string[];
  /** What `pattern` captured in the first line that matches it; throws with all lines if the container ends before. */
  captured(pattern: RegExp): Promise<string>;
  /** SIGTERM; the exit code. */
  stop(): Promise<number>;
  readonly ended: Promise<number>;
}

export interface Containers {
  /** Builds an image on `base`, from a Dockerfile and a context of the project. */
  build(name: string, dockerfile: string, context: string, base: string): Promise<void>;
  /** Nothing but Node.js and the libraries that it needs: no shell, no users. */
  nodeBase(): Promise<string>;
  /** Debian with its package manager, from the mirror that this machine uses. */
  debianBase(): Promise<string>;
  /** The compressed layers, the base's first. */
  layers(name: string): Promise<readonly Layer[]>;
  /** As the manifests have it: uid of the image, read-only root, no capabilities; no HOME and no passwd either. */
  run(name: string, args: readonly string[], env?: Readonly<Record<string, string>>): RunningContainer;
  close(): Promise<void>;
}

/** Images and containers in a folder of their own, without a daemon. */
export async function startContainers(): Promise<Containers> {
  const folder = await mkdtemp(join(tmpdir(), 'bamel-containers-'));
  const at = (name: string): string => join(folder, name);
  await mkdir(at('tmp'));
  await writeFile(at('policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}');
  await writeFile(
    at('storage.conf'),
    `[storage]\ndriver = "overlay"\nrunroot = "${at('run')}"\ngraphroot = "${at('store')}"\n`,
  );
  await writeFile(
    at('containers.conf'),
    '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\nruntime = "runc"\n',
  );
  const env = {
    ...process.env,
    TMPDIR: at('tmp'),
    BUILDAH_ISOLATION: 'chroot',
    CONTAINERS_STORAGE_CONF: at('storage.conf'),
    CONTAINERS_CONF: at('containers.conf'),
  };
  const buildah = (...args: string[]) => call('buildah', args, { env, maxBuffer: 2 ** 26 });
  const policy = ['--signature-policy', at('policy.json')];

  async function base(name: string, files: string): Promise<string> {
    await writeFile(
      at(`${name}.Dockerfile`),
      `FROM scratch\nADD ${files} /\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n`,
    );
    const image = `localhost/${name}:1`;
    await buildah('build', ...policy, '--file', at(`${name}.Dockerfile`), '--tag', image, folder);
    return image;
  }

  return {
    async build(name, dockerfile, context, on) {
      const files = ['--file', join(root, dockerfile), '--tag', name];
      await buildah('build', ...policy, '--pull=never', '--build-arg', `BASE=${on}`, ...files, context);
    },
    async nodeBase() {
      const { stdout } = await call('ldd', [process.execPath]);
      const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
      for (const path of libraries) {
        await mkdir(dirname(at(`node${path}`)), { recursive: true });
        await cp(path, at(`node${path}`), { dereference: true });
      }
      await cp(process.execPath, at('node/usr/local/bin/node'));
      await mkdir(at('node/tmp'));
      return base('node', 'node');
    },
    async debianBase() {
      await call('mmdebstrap', ['--variant=minbase', '--quiet', 'bookworm', at('debian.tar')], { env });
      return base('debian', 'debian.tar');
    },
    async layers(name) {
      await buildah('push', ...policy, '--quiet', name, `dir:${at('pushed')}`);
      return JSON.parse(await readFile(at('pushed/manifest.json'), 'utf8')).layers;
    },
    run(name, args, given = {}) {
      const child = spawn(
        'podman',
        [
          'run',
          '--rm',
          '--pull=never',
          '--read-only',
          '--read-only-tmpfs=false',
          '--cap-drop=ALL',
          '--security-opt=no-new-privileges',
          '--passwd=false',
          '--network=host',
          // What podman asks for by default takes a capability that a container of its own may not have.
          '--ulimit=nofile=4096:4096',
          '--ulimit=nproc=4096:4096',
          // runc sets HOME for those who have none.
          '--env=NODE_OPTIONS=--import=data:text/javascript,delete%20process.env.HOME',
          ...Object.entries(given).map(([key, value]) => `--env=${key}=${value}`),
          name,
          ...args,
        ],
        { env, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      const lines: string[] = [];
      const waiting: { pattern: RegExp; resolve(found: string): void }[] = [];
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => {
          lines.push(line);
          for (const { pattern, resolve } of waiting) {
            const found = pattern.exec(line);
            if (found) resolve(found[1] ?? found[0]);
          }
        });
      const ended = once(child, 'close').then(([code]: unknown[]) => Number(code ?? -1));
      return {
        lines,
        ended,
        captured(pattern) {
          const { promise, resolve } = Promise.withResolvers<string>();
          waiting.push({ pattern, resolve });
          const early = ended.then((code) => {
            throw new Error(`it ended with ${code}:\n${lines.join('\n')}`);
          });
          return Promise.race([promise, early]);
        },
        stop() {
          child.kill('SIGTERM');
          return ended;
        },
      };
    },
    async close() {
      await call('podman', ['rm', '--all', '--force', '--time=0'], { env });
      await rm(folder, { recursive: true, force: true });
    },
  };
}
