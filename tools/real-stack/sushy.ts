import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { binariesFolder } from '../support/programs.ts';
import type { CertificateAuthority } from './certificates.ts';
import { withLock } from './lock.ts';
import { freePorts } from './ports.ts';
import { launch, makeWorkspace, untilReady } from './process.ts';

/** sushy-emulator, a Redfish BMC of the OpenStack project, and all that it needs, as tested together. */
const version = '2.2.0';
const packages = [
  `sushy-tools==${version}`,
  'bcrypt==5.0.0',
  'blinker==1.9.0',
  'certifi==2026.10.18',
  'charset-normalizer==3.5.2',
  'click==8.5.1',
  'flask==3.1.3',
  'idna==3.20',
  'itsdangerous==2.2.0',
  'jinja2==3.1.6',
  'markupsafe==3.0.4',
  'pbr==7.1.3',
  'requests==2.34.2',
  'tenacity==9.2.1',
  'urllib3==2.8.0',
  'webob==1.8.11',
  'werkzeug==3.1.9',
];

const run = promisify(execFile);
type Progress = (line: string) => void;
const toStandardError: Progress = (line) => process.stderr.write(`${line}\n`);

/** The Python that has sushy-emulator; installed once, into a folder of its own. */
export async function ensureSushy(progress: Progress = toStandardError): Promise<string> {
  const folder = join(dirname(binariesFolder()), `sushy-tools-${version}`);
  const python = join(folder, 'bin', 'python3');
  // Written last: an installation that was interrupted begins anew.
  const finished = join(folder, 'finished');
  if (existsSync(finished)) return python;
  await withLock(
    `${folder}.lock`,
    () => progress('waiting for another process that installs sushy-tools …'),
    async () => {
      if (existsSync(finished)) return;
      progress(`installing sushy-tools ${version} into ${folder} (about half a minute, once) …`);
      rmSync(folder, { recursive: true, force: true });
      await makeEnvironment(folder);
      await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', ...packages]);
      writeFileSync(finished, '');
      progress(`installed sushy-tools ${version}`);
    },
  );
  return python;
}

async function makeEnvironment(folder: string): Promise<void> {
  try {
    // Named, because inside Jest it is a copy that children do not get by themselves.
    await run('python3', ['-m', 'venv', folder], { env: process.env });
  } catch (cause) {
    throw new Error(
      'Python 3 with venv is needed to install sushy-emulator. Install it, e.g. apt-get install python3-venv.',
      { cause },
    );
  }
}

export interface SushyOptions {
  readonly authority: CertificateAuthority;
  readonly credentials: { readonly username: string; readonly password: string };
  /** UUIDs; all are off. */
  readonly systems: readonly string[];
}

export interface Sushy {
  readonly url: string;
  close(): Promise<void>;
}

/** The @odata.id of a system. */
export const sushySystem = (uuid: string) => `/redfish/v1/Systems/${uuid}`;

/** A BMC with TLS and a password on 127.0.0.1. Power changes 1 to 11 s after it was asked to. */
export async function startSushy({ authority, credentials, systems }: SushyOptions): Promise<Sushy> {
  const python = await ensureSushy();
  const [port] = await freePorts(1);
  const workspace = makeWorkspace('sushy');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  const at = (name: string) => join(workspace.folder, name);
  const { cert, key } = authority.issueServer('sushy');
  mkdirSync(at('state'));
  writeFileSync(at('htpasswd'), `${credentials.username}:${await bcrypt(python, credentials.password)}\n`);
  const fakes = systems.map((uuid, index) => ({
    uuid,
    name: `system-${index + 1}`,
    power_state: 'Off',
    nics: [{ mac: `52:54:00:00:00:0${index}`, ip: `10.0.0.${index}` }],
  }));
  // JSON text, numbers and lists read the same in Python.
  const settings = {
    LISTEN_IP: '127.0.0.1',
    LISTEN_PORT: port,
    SSL_CERT: cert,
    SSL_KEY: key,
    AUTH_FILE: at('htpasswd'),
    FAKE_DRIVER: 1,
    STATE_DIR: at('state'),
    FAKE_SYSTEMS: fakes,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `SUSHY_EMULATOR_${name} = ${JSON.stringify(value)}`,
  );
  writeFileSync(at('config.py'), lines.join('\n'));
  const options = {
    name: 'sushy-emulator',
    path: python,
    args: [join(dirname(python), 'sushy-emulator'), '--config', at('config.py')],
    logs: workspace.logs,
    ready: () => accepts(port),
  };
  const program = launch(options);
  cleanup.defer(() => program.kill());
  await untilReady(program, options.ready);
  const running = cleanup.move();
  return {
    url: `https://127.0.0.1:${port}`,
    async close() {
      await running.disposeAsync();
      workspace.removeLogs();
    },
  };
}

/** The only kind of line that the emulator takes. Few rounds: it is checked at every request. */
async function bcrypt(python: string, password: string): Promise<string> {
  const script = 'import bcrypt, sys; print(bcrypt.hashpw(sys.argv[1].encode(), bcrypt.gensalt(4)).decode())';
  const { stdout } = await run(python, ['-c', script, password]);
  return stdout.trim();
}

async function accepts(port: number | undefined): Promise<true> {
  const socket = connect(port ?? 0, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.destroy();
  return true;
}
