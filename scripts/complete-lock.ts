// A registry mirror that has no packages for other platforms makes npm leave them out of the lock file, and
// `npm ci` then refuses it. Adds them from what the packages that want them say. Run after `npm install`.
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockEntry> };

const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'aix',
];
const processors = [
  'arm64',
  'arm',
  'x64',
  'ia32',
  'ppc64',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
];

function missingEntry(name: string, version: string, wantedBy: LockEntry): LockEntry {
  const parts = name.split(/[/-]/);
  const os = systems.find((system) => parts.includes(system));
  const cpu = processors.find((processor) => parts.includes(processor));
  return {
    version,
    ...(cpu && { cpu: [cpu] }),
    ...(wantedBy.dev && { dev: true }),
    ...(os === 'linux' && { libc: [parts.some((part) => part.startsWith('musl')) ? 'musl' : 'glibc'] }),
    optional: true,
    ...(os && { os: [os] }),
  };
}

const added = Object.values(lock.packages).flatMap((entry) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name, version]) => /^\d/.test(version) && !lock.packages[`node_modules/${name}`])
    .map(([name, version]) => [`node_modules/${name}`, missingEntry(name, version, entry)] as const),
);
for (const [path, entry] of added) lock.packages[path] = entry;
const inOrder = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(inOrder) }, null, 2)}\n`);
console.log(`${added.length} packages for other platforms added to the lock file`);
