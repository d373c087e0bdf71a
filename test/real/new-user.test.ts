import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateAuthority, makeAuthority } from '../../tools/real-stack/certificates.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode } from '../../tools/real-stack/nodes.ts';
import { freePorts } from '../../tools/real-stack/ports.ts';
import { type Sushy, startSushy, sushySystem } from '../../tools/real-stack/sushy.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { waitFor } from '../../tools/real-stack/wait.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { runProgram } from '../cli/run-bamel.ts';
import { codeBlocks, readText, root } from '../docs/markdown.ts';

const systemUUID = '44444444-4444-4444-8444-444444444444';
const credentials = { username: 'admin', password: 'canary-nine-commands' };

/** The page's commands, block by block: this test has none of its own. */
const page = readText('docs/getting-started.md');
const section = (heading: string): string =>
  page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
const shell = (heading: string): string[] =>
  codeBlocks(section(heading))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text);

/** How docs/cli.md runs the command in a checkout. */
const [bamelInCheckout = ''] = readText('docs/cli.md').match(/^bamel\(\) .*$/m) ?? [];

/** A checkout of its own, as far as npm can tell, so that what the user writes is nowhere else. */
function makeCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-new-user-'));
  for (const name of [
    'package.json',
    'node_modules',
    'cli',
    'apps',
    'functions',
    'shared',
    'simulator',
    'console',
  ])
    symlinkSync(join(root, name), join(folder, name));
  return folder;
}

interface Running {
  /** What it said so far. */
  said(): string;
  end(): Promise<void>;
}

/** In a process group of its own: npm, its shell and ours. */
function startShell(command: string, cwd: string, env: Readonly<Record<string, string>>): Running {
  const child = spawn('bash', ['--norc', '-c', command], {
    cwd,
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  // Not only npm is gone then, but everything that it started.
  const closed = once(child, 'close');
  return {
    said: () => said,
    async end() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGTERM');
      await closed;
    },
  };
}

describeWith(
  [...controlPlanePrograms, 'python3', 'openssl', 'curl', 'bash', 'npm'],
  'a new user, by docs/getting-started.md',
  () => {
    let folder: string;
    let authority: CertificateAuthority;
    let bmc: Sushy;
    let cluster: ControlPlane;
    let env: Record<string, string>;
    const running: Running[] = [];
    beforeAll(async () => {
      folder = makeCheckout();
      const certificates = join(folder, 'certificates');
      mkdirSync(certificates);
      authority = makeAuthority(certificates);
      bmc = await startSushy({ authority, credentials, systems: [systemUUID] });
      cluster = await startControlPlane();
      mkdirSync(join(folder, '.kube'));
      copyFileSync(cluster.kubeConfigFile, join(folder, '.kube', 'config'));
      const [port] = await freePorts(1);
      env = { HOME: folder, PORT: String(port), npm_config_update_notifier: 'false' };
    }, 300_000);
    afterAll(async () => {
      for (const { end } of running) await end();
      await cluster?.close();
      await bmc?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** On the page it is 10.0.8.11; here it is the emulator. */
    const here = (text: string): string =>
      text
        .replaceAll('10.0.8.11:443', new URL(bmc.url).host)
        .replaceAll('https://10.0.8.11', bmc.url)
        .replaceAll('m-10-0-8-11', 'm-127-0-0-1');
    const inShell = (commands: string) =>
      runProgram(
        'bash',
        ['--norc', '-eo', 'pipefail', '-c', `cd ${folder}; ${bamelInCheckout}; ${here(commands)}`],
        env,
        150_000,
      );
    const typed = (text: string, commands: string) => inShell(`exec <<< ${text}; ${commands}`);

    const start = (command: string): Running => {
      const begun = startShell(here(command), folder, env);
      running.push(begun);
      return begun;
    };
    const listens = ({ said }: Running) =>
      waitFor('the host listens', () => /listening|console is at/.exec(said()) ?? undefined, {
        timeoutMs: 120_000,
      });

    const [demo = ''] = shell('1. The demo');
    const [credentialsBlock = '', discover = '', validate = '', host = '', power = '', ...others] =
      shell('2. Your first machine');

    test('there are fewer than ten commands', () => {
      const blocks = [demo, credentialsBlock, discover, validate, host, power];
      expect(blocks.flatMap((block) => block.trim().split('\n'))).toHaveLength(9);
      expect(others).toEqual([]);
      expect(readText('README.md')).toContain(demo.trim());
    });

    test('from the demo to a machine that is on', async () => {
      const [installs, starts = ''] = demo.trim().split(' && ');
      expect(installs).toBe('npm ci');
      const playing = start(starts);
      await listens(playing);
      await playing.end();

      expect(await typed(credentials.password, credentialsBlock)).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, 'credentials/tower-bmc/password'), 'utf8')).toBe(credentials.password);

      const [begun] = codeBlocks(section('2. Your first machine')).filter(
        ({ language }) => language === 'yaml',
      );
      appendFileSync(join(folder, 'bamel.yaml'), begun?.text ?? '');
      expect(await inShell(discover)).toMatchObject({ code: 0 });
      const written = readFileSync(join(folder, 'bamel.yaml'), 'utf8');
      expect(written).toContain(`systemUUID: ${systemUUID}`);
      expect(written).not.toContain(credentials.password);
      expect((await inShell(validate)).stdout).toContain('bamel.yaml: ok, 1 pools and 1 machines');

      const serving = start(host);
      await listens(serving);
      const [on = '', status = ''] = power.trim().split('\n');
      const joins = waitFor(
        'the BMC says that it is on',
        async () => ((await powerState()) === 'On' ? true : undefined),
        { timeoutMs: 240_000, everyMs: 500 },
      ).then(
        // The operating system, the kubelet: what no emulator of a BMC has.
        () => addNode(cluster.kubeConfig, 'some-name', { systemUUID }),
      );
      const [powered] = await Promise.all([inShell(on), joins]);
      expect(powered.stdout).toMatch(/on sent to its BMC[\s\S]*powered on: joining[\s\S]*joined: ready/);
      expect(powered.code).toBe(0);
      const shown = (await inShell(status)).stdout;
      expect(shown).toMatch(/^state +ready since/m);
      expect(shown).toMatch(/^power +on$/m);
      expect(shown).toMatch(/^node +some-name$/m);
      expect(serving.said()).not.toContain(credentials.password);
    }, 900_000);

    async function powerState(): Promise<unknown> {
      const { username, password } = credentials;
      const asked = `curl -s --cacert ${authority.cert} -u ${username}:${password} ${bmc.url}${sushySystem(systemUUID)}`;
      const { stdout } = await runProgram('bash', ['--norc', '-c', asked]);
      return (JSON.parse(stdout) as { PowerState?: unknown }).PowerState;
    }
  },
);
