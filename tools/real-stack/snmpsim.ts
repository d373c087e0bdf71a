import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { binariesFolder } from '../support/programs.ts';
import { withLock } from './lock.ts';
import { freePorts } from './ports.ts';
import { launch, makeWorkspace, untilReady } from './process.ts';
import { isWrite } from './snmp-agent.ts';

/** snmpsim, an SNMP agent that plays any device from a file, and all that it needs, as tested together. */
const version = '1.2.2';
const packages = [
  `snmpsim==${version}`,
  'certifi==2026.10.18',
  'cffi==2.1.1',
  'charset-normalizer==3.5.2',
  'cryptography==50.0.2',
  'idna==3.20',
  'jinja2==3.1.6',
  'lark==1.3.1',
  'markupsafe==3.0.4',
  'pyasn1==0.6.5',
  'pycparser==3.12',
  'pysmi==2.0.0',
  'pysnmp==7.1.30',
  'requests==2.34.2',
  'urllib3==2.8.0',
];

const run = promisify(execFile);

/** The folder of its programs; installed once, into a place of its own. */
async function ensureSnmpsim(): Promise<string> {
  const folder = join(dirname(binariesFolder()), `snmpsim-${version}`);
  // Written last: an installation that was interrupted begins anew.
  const finished = join(folder, 'finished');
  const say = (line: string) => process.stderr.write(`${line}\n`);
  if (!existsSync(finished))
    await withLock(
      `${folder}.lock`,
      () => say('waiting for another process that installs snmpsim …'),
      async () => {
        if (existsSync(finished)) return;
        say(`installing snmpsim ${version} into ${folder} (about half a minute, once) …`);
        rmSync(folder, { recursive: true, force: true });
        await run('python3', ['-m', 'venv', folder], { env: process.env }).catch((cause: Error) => {
          throw new Error('Python 3 with venv is needed for snmpsim, e.g. apt-get install python3-venv.', {
            cause,
          });
        });
        const python = join(folder, 'bin', 'python3');
        await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', ...packages]);
        writeFileSync(finished, '');
      },
    );
  return join(folder, 'bin');
}

export const agentUser = {
  username: 'operator',
  authKey: 'canary-auth-9f3c',
  privKey: 'canary-priv-9f3c',
};

/** Whose messages are authenticated but not encrypted, so that a relay can tell what is in them. */
export const plainUser = { username: 'reader', authKey: 'canary-plain-9f3c' };

export interface Snmpsim {
  readonly port: number;
  close(): Promise<void>;
}

/** An agent on 127.0.0.1 with these rows (OID|type|value) for this community, and for the users above. */
export async function startSnmpsim(community: string, rows: readonly string[]): Promise<Snmpsim> {
  const programs = await ensureSnmpsim();
  const [port = 0] = await freePorts(1);
  const workspace = makeWorkspace('snmpsim');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  const at = (name: string) => join(workspace.folder, name);
  for (const name of ['data', 'cache']) mkdirSync(at(name));
  writeFileSync(join(at('data'), `${community}.snmprec`), rows.map((row) => `${row}\n`).join(''));
  const options = {
    name: 'snmpsim',
    path: join(programs, 'python3'),
    args: [
      join(programs, 'snmpsim-command-responder'),
      `--data-dir=${at('data')}`,
      `--cache-dir=${at('cache')}`,
      `--agent-udpv4-endpoint=127.0.0.1:${port}`,
      `--variation-module-options=writecache:file:${at('cache/values.db')}`,
      `--v3-user=${agentUser.username}`,
      `--v3-auth-key=${agentUser.authKey}`,
      '--v3-auth-proto=SHA256',
      `--v3-priv-key=${agentUser.privKey}`,
      '--v3-priv-proto=AES',
      `--v3-user=${plainUser.username}`,
      `--v3-auth-key=${plainUser.authKey}`,
      '--v3-auth-proto=SHA256',
      // It refuses to run as root without being told to.
      ...(process.getuid?.() === 0 ? ['--process-user=root', '--process-group=root'] : []),
    ],
    logs: workspace.logs,
    ready: () => isTaken(port),
  };
  const program = launch(options);
  cleanup.defer(() => program.kill());
  await untilReady(program, options.ready);
  const running = cleanup.move();
  return {
    port,
    async close() {
      await running.disposeAsync();
      workspace.removeLogs();
    },
  };
}

/** It says nothing on its own; but what it listens on nobody else can. */
async function isTaken(port: number): Promise<true | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return undefined;
  } catch {
    return true;
  } finally {
    socket.close();
  }
}

export interface SnmpRelay {
  readonly port: number;
  /** How many requests to write have come by. */
  readonly writes: number;
  silent: boolean;
  close(): Promise<void>;
}

/** Stands before an agent, counts what it is told to write, and can swallow everything. */
export async function startRelay(agentPort: number): Promise<SnmpRelay> {
  const front = createSocket('udp4');
  const backs = new Map<string, ReturnType<typeof createSocket>>();
  let writes = 0;
  let open = true;
  front.on('message', (request, { address, port }) => {
    if (isWrite(request)) writes += 1;
    if (relay.silent) return;
    const client = `${address}:${port}`;
    const back = backs.get(client) ?? createSocket('udp4');
    if (!backs.has(client))
      back.on('message', (answer) => {
        if (open) front.send(answer, port, address);
      });
    backs.set(client, back);
    back.send(request, agentPort, '127.0.0.1');
  });
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  const relay: SnmpRelay = {
    port: front.address().port,
    get writes() {
      return writes;
    },
    silent: false,
    async close() {
      if (!open) return;
      open = false;
      for (const socket of backs.values()) socket.close();
      front.close();
      await once(front, 'close');
    },
  };
  return relay;
}
