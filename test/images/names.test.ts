import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageOf } from '../../scripts/generate/image.ts';
import { readText, root } from '../docs/markdown.ts';

const img = 'registry.internal:5000/team/bamel:1.2.3-rc.1';
/** Those of tests that programs of others read, and build tools. */
const manifests = ['config/**/*.yaml', 'knative/**/*.yaml', 'openfaas/**/*.yaml'];
const imageLine = /^\s*(?:- )?image: (\S+)$/gm;
const imagesIn = (text: string): string[] => [...text.matchAll(imageLine)].map(([, image = '']) => image);

test('every manifest names its images with registry and tag', () => {
  const files = globSync(manifests, { cwd: root });
  const images = files.flatMap((file) => imagesIn(readText(file)).map((image) => `${file}: ${image}`));
  expect(images.length).toBeGreaterThan(20);
  expect(images.filter((line) => !/: [\w-]+\.[\w.-]+\/[^:@]+:[\w.-]+$/.test(line))).toEqual([]);
});

test('the image of a part is named after the image', () => {
  expect(imageOf('sensor', img)).toBe('registry.internal:5000/team/bamel-sensor:1.2.3-rc.1');
  expect(imageOf('sensor-bpf', 'localhost/bamel:1')).toBe('localhost/bamel-sensor-bpf:1');
});

test.each([
  'bamel',
  'bamel:1',
  'team/bamel:1',
  'registry.internal/bamel',
  'registry.internal:5000/bamel',
  ':1',
])('IMG=%s is refused: registry/name:tag', (image) => {
  expect(() => imageOf(undefined, image)).toThrow(/^IMG: write registry\/name:tag/);
});

test('IMG reaches every manifest that a build writes', async () => {
  const out = await mkdtemp(join(tmpdir(), 'bamel-named-'));
  try {
    execFileSync(process.execPath, ['scripts/build.ts', '--out', out], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', IMG: img },
    });
    const files = globSync(['install*.yaml', ...manifests.map((path) => `deploy/${path}`)], { cwd: out });
    const images = new Map<string, string[]>();
    for (const file of files)
      for (const image of imagesIn(await readFile(join(out, file), 'utf8')))
        images.set(image, [...(images.get(image) ?? []), file]);
    const others = ['docker.io/library/busybox:', 'registry.k8s.io/autoscaling/cluster-autoscaler:'];
    const ours = [...images.keys()].filter((image) => !others.some((other) => image.startsWith(other)));
    expect(ours.sort()).toEqual(
      [img, ...(['openfaas', 'sensor', 'sensor-bpf'] as const).map((part) => imageOf(part, img))].sort(),
    );
    expect(images.get(img)).toEqual(
      expect.arrayContaining([
        'install.yaml',
        'install-ha.yaml',
        'deploy/config/manager/host.yaml',
        'deploy/config/ha/host.yaml',
        'deploy/knative/services.yaml',
        'deploy/knative/func/power-action/func.yaml',
      ]),
    );
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}, 120_000);

test('make names the images as the manifests do', () => {
  const make = (target: string) =>
    execFileSync('make', ['--dry-run', target, `IMG=${img}`, 'ENGINE=podman'], {
      cwd: root,
      encoding: 'utf8',
    });
  expect(make('image')).toContain(`podman build -f images/bamel.Dockerfile -t ${img} dist`);
  expect(make('push')).toContain(`podman push ${img}`);
  for (const part of ['sensor', 'sensor-bpf'] as const) {
    expect(make('sensor-images')).toContain(`-t ${imageOf(part, img)} `);
    expect(make('push-sensor')).toContain(`podman push ${imageOf(part, img)}\n`);
  }
});
